// First bounds of a plan, cheap enough for every candidate: no order is walked to its end, no bucket made. Never above memory_bound and replay, which
// come where these do not settle it.
#pragma once

#include <algorithm>

#include "planner/layer_memory.h"
#include "planner/plan_prices.h"
#include "planner/replay_stage.h"

namespace planner {

// A stage between the forward of stages before it and their backward, of computation and transfers alone.
//
//   stage s   |--- arrive: forward of stages before ---|--- all its microbatches ---|--- drain: backward of stages before ---|
struct StageSketch {
  sim::SimTime arrive{};         // it has nothing to compute before
  sim::SimTime ends{};           // of all that it computes; earliest
  sim::SimTime last_backward{};  // of what waits for a gradient; earliest
  sim::SimTime drain{};          // from its last backward to the last one of all
  sim::SimTime computing{};      // of its microbatches, without exchanges
};

// How many actions of each chunk run beside another (expert_overlap): a backward and the forward right behind it. The others wait for their exchanges.
struct PairedActions {
  std::vector<std::int64_t> forward, backward;
};
std::vector<PairedActions> paired_actions(const sim::ParallelPlan& plan, const StageOrders& orders);  // by stage

// `paired` of a plan with expert_overlap, else empty.
std::vector<StageSketch> sketch_stages(const sim::ModelGraph& model, const sim::ParallelPlan& plan,
                                       const std::vector<StageLayerPrices>& layers, const std::vector<StageTransfers>& transfers,
                                       const std::vector<PairedActions>& paired = {});
sim::SimTime sketch_time(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const std::vector<StageLayerPrices>& layers,
                         const std::vector<StageTransfers>& transfers, const std::vector<PairedActions>& paired = {});

// Of a plan whose steps cross: nothing waits for the end of a step, so none is shorter than what its busiest stage computes.
sim::SimTime busiest_time(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const std::vector<StageLayerPrices>& layers);

// How long a device computes, the mean of all; its step's update is left out.
sim::SimTime computing_time(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const std::vector<StageLayerPrices>& layers);

// What a microbatch takes at least, wherever layers are: of all of them, of a block, and of the most common kind of block.
struct LeastWork {
  sim::SimTime all{};                  // of one microbatch among many: beside exchanges that may be beside another's kernels
  sim::SimTime alone{};                // of one that is beside no other, as the first one's forward and the last one's backward
  sim::SimTime issue{};                // of all of them, what hosts take to issue it
  sim::SimTime computing{};            // of all of them, without exchanges
  sim::SimTime forward{}, backward{};  // of the block that takes least
  sim::SimTime common{};               // forward, backward and weight of a block of that kind
  std::int64_t blocks = 0;             // so many there are
};
LeastWork least_work(const sim::ModelGraph& model, const std::vector<StageLayerPrices>& stages);
LeastWork least(const LeastWork& a, const LeastWork& b);  // of either

struct Pipelined {
  std::int64_t microbatches = 1, stages = 1;
  bool one_chunk = false, splits_backward = false;
  bool crosses_norm = false;  // ranks meet nowhere: u is 0, and no stage waits
};
// No cut takes less. The stages' times t(s) of a microbatch sum up to the work. Before stage s begins, each stage ahead of it has put a block of its first chunk through,
// and does so again backward when s has ended: m t(s) + s u <= T with u = forward + backward of a block (where backwards are split: forward alone), so that
// T >= ((m - 1) W + A) / p + u (p - 1) / 2, where A >= W is of a microbatch that nothing runs beside; and as blocks are whole, all of a kind must find
// room: sum over s of floor((T - s u) / (m w)) >= n. With one chunk a stage waits for all that those before it hold: m t(s) + t(0) + ... + t(s - 1) <= T, which is best met by t(s) = T / m (1 - 1 / m)^s.
sim::SimTime least_time(const LeastWork& work, const Pipelined& pipeline);

// Of the first and the last stage, which hold the embedding and the head.
struct EndStages {
  sim::Bytes first{}, last{};
};
EndStages end_weights(const sim::ModelGraph& model,
                      const sim::ParallelPlan& plan);    // depends on mesh, cut, chunks, ZeRO stage, offload, reduces each
EndStages end_step_data(const sim::ParallelPlan& plan);  // depends on mesh, microbatch, schedule, chunks, sequence parallel

// `working`: first_working_memory().
inline sim::Bytes sketch_memory(const EndStages& weights, const EndStages& step_data, sim::Bytes working) {
  return std::max(weights.first + step_data.first + working, weights.last + step_data.last);
}

}  // namespace planner
