// What attention keeps for its backward, and what it needs on the way: its heads, its scores, blocks of keys that come in. The table is activation_memory's, of
// which this is a part; not for other rooms.
#pragma once

#include "sim/cost/segment_memory.h"
#include "sim/cost/segment_sizes.h"

namespace sim {

void add_attention(SegmentMemory& memory, const SegmentSizes& size, const ParallelPlan& plan);

}  // namespace sim
