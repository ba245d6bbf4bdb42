// What attention to chosen tokens keeps for its backward, beside the norm in front of it. A part of activation_memory; not for other rooms.
#pragma once

#include "sim/cost/segment_memory.h"
#include "sim/cost/segment_sizes.h"

namespace sim {

void add_sparse_attention(SegmentMemory& memory, const SegmentSizes& size, const ParallelPlan& plan);

}  // namespace sim
