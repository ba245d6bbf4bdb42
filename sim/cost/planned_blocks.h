// The memory of a simulated step block by block: who took it, when, until when.
// A task frees what was taken for its own operation, layer and microbatch, the oldest first; a block of which a part is freed is two blocks.
#pragma once

#include <vector>

#include "sim/cost/simulated_step.h"
#include "sim/timeline/memory_snapshot.h"

namespace sim {

// By device. At each moment the blocks of a category add up to its memory sample.
std::vector<RankMemory> planned_blocks(const SimulatedStep& step);

}  // namespace sim
