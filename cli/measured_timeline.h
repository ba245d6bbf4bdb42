// One measured step of all ranks as a timeline, so that it can be drawn like a simulated one. Used by compare.
#pragma once

#include <vector>

#include "sim/plan/parallel_plan.h"
#include "sim/timeline/comparison.h"
#include "sim/timeline/trace.h"

namespace cli {

// The step whose duration on rank 0 is the median after warm-up; times since the first rank began it. Empty: no step is left.
sim::Timeline median_step(const sim::ParallelPlan& plan, const std::vector<sim::RankTrace>& traces, sim::WarmUp warm_up);

}  // namespace cli
