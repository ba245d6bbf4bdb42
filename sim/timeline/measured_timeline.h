// One measured step of all ranks as a timeline, so that it can be drawn like a simulated one.
#pragma once

#include <vector>

#include "sim/plan/parallel_plan.h"
#include "sim/timeline/comparison.h"
#include "sim/timeline/trace.h"

namespace sim {

struct MedianStep {
  std::int64_t number = -1;  // as the run counts; -1: none is left after warm-up, and the timeline is empty
  Timeline timeline;         // of all ranks; times since the first rank began the step
};

// The step whose duration on rank 0 is the median after warm-up.
MedianStep median_step(const ParallelPlan& plan, const std::vector<RankTrace>& traces, WarmUp warm_up);

}  // namespace sim
