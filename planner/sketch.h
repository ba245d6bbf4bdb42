// First bounds of a plan, cheap enough for every candidate: no order is walked to its end, no bucket made. Never above memory_bound and replay, which
// come where these do not settle it.
#pragma once

#include <algorithm>

#include "planner/layer_memory.h"
#include "planner/plan_prices.h"
#include "planner/replay_stage.h"

namespace planner {

// Computation and transfers alone.
//
//   stage s   |--- arrive: forward of stages before ---|--- all its microbatches ---|--- drain: backward of stages before ---|
sim::SimTime sketch_time(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const std::vector<StageLayerPrices>& layers,
                         const std::vector<StageTransfers>& transfers);

// Of a plan whose steps cross: nothing waits for the end of a step, so none is shorter than what its busiest stage computes.
sim::SimTime busiest_time(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const std::vector<StageLayerPrices>& layers);

// No cut takes less: the stages' times of a microbatch sum up to `work`, and the slowest decides. With one chunk a stage also waits for those before it, so
// that m t(s) + t(0) + ... + t(s - 1) <= T, which is best met by t(s) = T / m (1 - 1 / m)^s.
struct Pipelined {
  std::int64_t microbatches = 1, stages = 1;
  bool waits = false;  // one chunk a stage, backwards whole
};
sim::SimTime least_time(sim::SimTime work, const Pipelined& pipeline);

// Of the first and the last stage, which hold the embedding and the head.
struct EndStages {
  sim::Bytes first{}, last{};
};
EndStages end_weights(const sim::ModelGraph& model,
                      const sim::ParallelPlan& plan);    // depends on mesh, cut, chunks, ZeRO stage, offload, reduces each
EndStages end_step_data(const sim::ParallelPlan& plan);  // depends on mesh, microbatch, schedule, chunks, sequence parallel

// `working`: working_memory() of the first stage.
inline sim::Bytes sketch_memory(const EndStages& weights, const EndStages& step_data, sim::Bytes working) {
  return std::max(weights.first + step_data.first + working, weights.last + step_data.last);
}

}  // namespace planner
