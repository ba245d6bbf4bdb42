// What feed-forwards and experts of a block keep for their backward, and what they need on the way. The table is activation_memory's, of which this is a
// part; not for other rooms.
#pragma once

#include "sim/cost/segment_memory.h"
#include "sim/cost/segment_sizes.h"

namespace sim {

void add_mlp(SegmentMemory& memory, const SegmentSizes& size, const ParallelPlan& plan);
void add_experts(SegmentMemory& memory, const SegmentSizes& size, const ParallelPlan& plan);

}  // namespace sim
