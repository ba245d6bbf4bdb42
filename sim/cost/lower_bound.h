// Step times that no simulation of the plan can beat: cheap enough for every candidate, without a graph. Used by the planner as a first
// sieve. Admissible because a compute stream runs one task after the other, a tensor collective stands between two of them, and
// sharing links only slows.
//
//   stage s   |--- arrive: forward of stages before ---|--- m forwards and backwards ---|--- drain: backward of stages before ---|
#pragma once

#include "sim/plan/parallel_plan.h"
#include "sim/units/quantity.h"
#include "sim/units/sim_time.h"

namespace sim {

// Computation of one stage, tensor collectives between included, over all microbatches.
SimTime compute_lower_bound(const ModelGraph& model, const ParallelPlan& plan, StageIndex stage);

// The slowest stage, its wait for the first microbatch, and the way of the last one back to the first stage.
SimTime step_lower_bound(const ModelGraph& model, const ParallelPlan& plan);

// The larger of the first and the last stage: parameters, gradients, optimizer state, and the activations of its order.
Bytes memory_lower_bound(const ModelGraph& model, const ParallelPlan& plan);

}  // namespace sim
