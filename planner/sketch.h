// First bounds of a plan, cheap enough for every candidate: no order is walked to its end, no bucket made. Never above memory_bound and replay, which
// come where these do not settle it. Used by evaluator.
#pragma once

#include "planner/layer_memory.h"
#include "planner/plan_prices.h"
#include "planner/replay_stage.h"
#include "sim/cost/resident_memory.h"

namespace planner {

// Computation and transfers alone.
//
//   stage s   |--- arrive: forward of stages before ---|--- all its microbatches ---|--- drain: backward of stages before ---|
sim::SimTime sketch_time(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const std::vector<StageLayerPrices>& layers,
                         const std::vector<StageTransfers>& transfers);

// Elements of the first and the last stage, which hold the embedding and the head.
struct EndStages {
  sim::StageElements first, last;
};
EndStages end_stages(const sim::ModelGraph& model, const sim::ParallelPlan& plan);  // depends on mesh, cut and chunks

// `working`: working_memory() of the first stage.
sim::Bytes sketch_memory(const sim::ParallelPlan& plan, const EndStages& elements, sim::Bytes working);

}  // namespace planner
