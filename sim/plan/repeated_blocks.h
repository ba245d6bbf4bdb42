// How far a block that is recomputed as a whole runs again: to its end, where its program does so or another block reads what it puts out; else up to what its
// backward reads. Of the task graph and of the worker.
#pragma once

#include "sim/plan/parallel_plan.h"

namespace sim {

inline bool repeats_to_end(const ParallelPlan& plan) {
  return plan.recompute == Recompute::Full && (habits_of(plan.cluster).repeats_blocks || plan.recompute_scope.together > 1);
}

}  // namespace sim
