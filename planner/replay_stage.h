// One pipeline stage as replay walks it: its orders, its layers with their prices summed by chunk, and where its streams are.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "planner/plan_prices.h"
#include "sim/schedule/schedule.h"
#include "sim/units/at.h"

namespace planner {

// The orders of all stages under the plan's schedule. They depend on schedule and shape alone.
using StageOrders = std::vector<std::vector<sim::StageAction>>;
StageOrders stage_orders(const sim::ParallelPlan& plan);
// With expert_overlap: whether the action and the one right behind it run piece by piece in turn (StageWriter::pair_at).
bool is_pair(const std::vector<sim::StageAction>& order, std::size_t first);

inline constexpr sim::SimTime kNotYet{-1};

struct ReplayChunk {
  sim::LayerRange layers{};
  PacedTime forward{}, backward{};                             // all layers; backward: what waits for the gradient
  PacedTime ahead{};                                           // the recomputation of the last layer, which does not
  PacedTime weight{};                                          // all layers, of a split backward
  std::vector<Stretch> forward_stretches, backward_stretches;  // expert_overlap: of all layers
  std::vector<PairTime> pairs;                     // of its backward, by the chunk of the forward; as far as they were asked for
  sim::SimTime forward_alone{}, backward_alone{};  // what they take one behind the other, up to the last kernel
  std::int32_t actions_left = 0;                   // that add to its gradients
  sim::SimTime went_back{};                        // delay_wgrad: since when the layer that a weight action has come to has gone backward
  std::size_t first_bucket = 0, next_bucket = 0;   // of its own; the first one that is not reduced yet
  sim::SimTime reductions{};                       // of all its buckets, one after the other
  Paces reduced_after{kNever, kNever};             // the device, and the host, begin its backward: when the last of them ends
  LinkLoad reduction_load{};
  std::vector<std::size_t> buckets,
      buckets_begin;  // stage 3: what its layers need gathered, one layer's behind another's; where each layer's begin

  std::span<const std::size_t> buckets_of(sim::LayerIndex layer) const {
    const auto at = sim::count_of(layer.value() - layers.begin.value());
    return std::span(buckets).subspan(buckets_begin[at], buckets_begin[at + 1] - buckets_begin[at]);
  }
};

struct ReplayStage {
  std::int32_t index = 0;
  const std::vector<sim::StageAction>* order = nullptr;
  std::size_t next = 0;
  std::array<sim::SimTime, sim::kNumStreams> free{};  // in order devices: all streams are the first
  sim::SimTime turn_begin{};                          // expert_overlap: of the actions that run in turn
  sim::SimTime pair_end{};                            // and when both of a pair have ended
  sim::SimTime host{};                                // since when it may issue what follows
  LinkLoad load{};                                    // of gathers and reductions so far
  sim::SimTime computed{};                            // when its last computation ended: what may be exchanged since
  std::vector<ReplayChunk> chunks;
  std::vector<sim::SimTime> gathered;  // stage 3, by bucket: since when it is there
  std::vector<bool> near;              // and whether neighbours have it among them
  std::vector<sim::SimTime> on_host;   // an offloaded optimizer, by bucket: since when its gradients are there
};

inline const LayerPrice& price_of(const StageLayerPrices& prices, const sim::ModelGraph& model, sim::LayerIndex layer) {
  return prices[model.kind(layer)];
}

const PacedTime& time_of(const LayerPrice& price, sim::ActionKind kind);
const Exchange& gather_of(const BucketPrice& price, sim::ActionKind kind, bool near);

// Actions of an order that run piece by piece in turn, or one alone.
struct Turn {
  std::size_t begin = 0, end = 0;
  bool is_alone() const { return end - begin == 1; }
};
// expert_overlap: a backward, the gradients of its weights right behind it, and the forward behind those (StageWriter::pair_at).
Turn turn_of(const sim::ParallelPlan& plan, const std::vector<sim::StageAction>& order, std::size_t at);

// Whether weights come unit by unit: from other ranks, or from the host.
bool gathers_units(const sim::ParallelPlan& plan);
// And in each forward and each backward.
bool gathers_anew(const sim::ParallelPlan& plan);
// Whether the host sums the gradients of several microbatches, which leave one by one.
bool adds_on_host(const sim::ParallelPlan& plan);

// Before the step. The orders must outlive it.
ReplayStage make_replay_stage(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const PlanPrices& prices,
                              const StageOrders& orders, sim::StageIndex stage);

}  // namespace planner
