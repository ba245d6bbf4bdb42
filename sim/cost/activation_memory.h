// What a segment keeps from its forward to its backward, and what it needs on the way: the table that is held against measured peaks.
// It follows the worker, which drives autograd unit by unit; other programs keep what their software profile says.
#pragma once

#include "sim/cost/segment_memory.h"

namespace sim {

SegmentMemory segment_memory(const ModelGraph& model, const ParallelPlan& plan, const SegmentGraph& segment);

}  // namespace sim
