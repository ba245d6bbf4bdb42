// What products in emulated 8 bit need beside what they read and make: both operands, rounded, in the type that multiplies. A part of activation_memory;
// not for other rooms.
#pragma once

#include "sim/cost/segment_memory.h"
#include "sim/cost/segment_sizes.h"

namespace sim {

void add_rounded(SegmentMemory& memory, const SegmentSizes& size, const SegmentGraph& segment, const ParallelPlan& plan);

}  // namespace sim
