// What adapters beside a segment's products keep and need, and the numbers that packed weights are unpacked to. A part of activation_memory and task_kernels; not for
// other rooms.
#pragma once

#include "sim/cost/segment_memory.h"
#include "sim/cost/segment_sizes.h"

namespace sim {

bool unpacks_by_operator(const ParallelPlan& plan);
void add_adapters(SegmentMemory& memory, const SegmentSizes& size, const SegmentGraph& segment, const ParallelPlan& plan);

}  // namespace sim
