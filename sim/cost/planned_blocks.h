// The memory of a simulated step block by block: who took it, when, until when.
// A task frees what was taken for its own operation, layer and microbatch, the oldest first; a block of which a part is freed is two blocks.
#pragma once

#include <vector>

#include "sim/cost/memory_steps.h"
#include "sim/cost/simulated_step.h"
#include "sim/timeline/memory_snapshot.h"

namespace sim {

struct TimedChange {
  SimTime time{};
  MemoryChange change;
  TaskKey key{};
};
// Of one device, from its changes in the order of time.
std::vector<MemoryBlock> blocks_of(const MemoryBreakdown& resident, const std::vector<TimedChange>& changes);

// By device. At each moment the blocks of a category add up to its memory sample.
std::vector<RankMemory> planned_blocks(const SimulatedStep& step);

}  // namespace sim
