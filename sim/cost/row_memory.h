// What the worker keeps of the stream where a sample is a source and its target, and what any network's additions to it take beside its gradient. A part of
// activation_memory; not for other rooms.
#pragma once

#include "sim/cost/segment_memory.h"
#include "sim/cost/segment_sizes.h"

namespace sim {

void add_rows(SegmentMemory& memory, const SegmentSizes& size, const ParallelPlan& plan, const SegmentGraph& segment);

}  // namespace sim
