#include "planner/closing_time.h"

#include <algorithm>

#include "planner/replay.h"
#include "sim/plan/stage_layers.h"
#include "sim/sharding/sharding.h"
#include "sim/units/at.h"

namespace planner {
namespace {

using sim::ActionKind;
using sim::SimTime;
using sim::StageIndex;

struct ChunkGathers {
  SimTime forward{}, backward{};             // of all its units
  SimTime first_forward{}, last_backward{};  // of the one that an action begins with
  bool is_one_unit = false;
};

// The embedding's are left out, which further layers may read.
ChunkGathers gathers_of(const sim::ParallelPlan& plan, const StageStepPrices& stage, sim::ChunkIndex chunk, sim::LayerRange layers) {
  const sim::LayerRange first = sim::unit_of(plan, layers.begin), last = sim::unit_of(plan, sim::LayerIndex(layers.end.value() - 1));
  ChunkGathers all{.is_one_unit = first.begin == last.begin};
  for (const BucketPrice& bucket : stage.buckets) {
    if (bucket.chunk != chunk || bucket.persistent || bucket.tied || !bucket.shared || bucket.ready_after == sim::LayerIndex(0)) continue;
    const auto least = [&](const Exchange& far, const Exchange& near) {
      return bucket.stays_near ? std::min(far.time, near.time) : far.time;
    };
    const SimTime forward = least(bucket.forward_gather, bucket.near_forward_gather),
                  backward = least(bucket.backward_gather, bucket.near_backward_gather);
    const sim::LayerIndex unit = sim::unit_of(plan, bucket.ready_after).begin;
    all.forward += forward, all.backward += backward;
    if (unit == first.begin) all.first_forward += forward;
    if (unit == last.begin) all.last_backward += backward;
  }
  return all;
}

// What an action finds of the one before it.
SimTime found(const ChunkGathers& chunk, const sim::StageAction& before, const sim::StageAction& action) {
  if (before.chunk != action.chunk || before.kind == ActionKind::Weight) return {};
  const bool forward = action.kind == ActionKind::Forward;
  if (before.kind == action.kind && !chunk.is_one_unit) return {};
  return forward ? chunk.first_forward : chunk.last_backward;
}

SimTime anew(const std::vector<ChunkGathers>& chunks, const std::vector<sim::StageAction>& order) {
  SimTime all{};
  for (std::size_t at = 0; at < order.size(); ++at) {
    const ChunkGathers& chunk = chunks[order[at].chunk.position()];
    if (order[at].kind == ActionKind::Weight) continue;
    all += order[at].kind == ActionKind::Forward ? chunk.forward : chunk.backward;
    if (at > 0) all -= found(chunk, order[at - 1], order[at]);
  }
  return all;
}

// What a backward of each chunk takes.
SimTime backwards(const sim::ModelGraph& model, const StageLayerPrices& prices, sim::LayerRange layers) {
  SimTime all{};
  for (sim::LayerIndex layer = layers.begin; layer < layers.end; ++layer) {
    const LayerPrice& price = price_of(prices, model, layer);
    all += price.recompute.time + price.backward.time + price.weight.time;
  }
  return all;
}

bool has_plain_gathers(const sim::ParallelPlan& plan, const std::vector<StageStepPrices>& steps) {
  if (!gathers_units(plan) || plan.offload_parameters || plan.expert_overlap) return false;
  const auto has_frozen = [](const StageStepPrices& stage) { return std::ranges::any_of(stage.buckets, &BucketPrice::frozen); };
  return std::ranges::none_of(steps, has_frozen);
}

// Of a chunk what its first layer completes, which nothing is computed behind if it is the stage's last.
SimTime last_sum(const StageStepPrices& stage, sim::LayerIndex first) {
  const auto last = std::ranges::find_if(
      stage.buckets, [&](const BucketPrice& one) { return one.ready_after == first && !one.tied && !one.frozen && !one.delayed; });
  return last == stage.buckets.end() ? SimTime{} : last->reduction(false);
}

// Whichever chunk is the last. Of pairs an exchange may end behind the sum, and a head's weights that are delayed come behind all of them.
SimTime last_sum(const sim::ParallelPlan& plan, const sim::StageLayers& parts, const StageStepPrices& step, StageIndex stage) {
  if (plan.expert_overlap || plan.delay_head_wgrad > 0 || plan.mesh.copies() == 1) return {};
  SimTime least = SimTime::max();
  for (sim::ChunkIndex chunk{0}; chunk.value() < plan.chunks; ++chunk)
    least = std::min(least, last_sum(step, parts.of(stage, chunk).begin));
  return least;
}

// Bucket by bucket, gathers beside updates; those that run beside the next forward are free.
SimTime stepped(const sim::ParallelPlan& plan, const StageStepPrices& stage) {
  SimTime updated{}, gathered{};
  if (plan.offload_optimizer || plan.optimizer_in_backward) return {};
  for (const BucketPrice& bucket : stage.buckets) {
    if (bucket.frozen) continue;
    updated += bucket.update.time;
    if (!plan.overlap_weight_gather) gathered = std::max(gathered, updated) + bucket.weights_gather;
  }
  return std::max(updated, gathered);
}

}  // namespace

SimTime replay_of_microbatches(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const std::vector<StageLayerPrices>& layers,
                               const std::vector<StageTransfers>& transfers, const StageOrders& orders) {
  const std::vector<StageStepPrices> no_buckets(orders.size());
  return replay(model, plan, {layers, transfers, no_buckets}, orders);
}

SimTime gathering_time(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const PlanPrices& prices, const StageOrders& orders) {
  SimTime longest{};
  if (!has_plain_gathers(plan, prices.steps)) return longest;
  const sim::StageLayers parts(plan);
  for (StageIndex stage{0}; stage.value() < plan.mesh.pipeline; ++stage) {
    std::vector<ChunkGathers> chunks;
    SimTime once{}, back{};
    for (sim::ChunkIndex chunk{0}; chunk.value() < plan.chunks; ++chunk) {
      const sim::LayerRange layers = parts.of(stage, chunk);
      chunks.push_back(gathers_of(plan, prices.steps[stage.position()], chunk, layers));
      once += chunks.back().forward;
      back += backwards(model, prices.layers[stage.position()], layers) * plan.num_pieces();
    }
    longest = std::max(longest, gathers_anew(plan) ? anew(chunks, orders[stage.position()]) : once + back);
  }
  return longest;
}

SimTime closing_time(const sim::ParallelPlan& plan, const std::vector<StageStepPrices>& steps) {
  const sim::StageLayers parts(plan);
  SimTime agreed = SimTime::max(), sum{}, longest{}, shortest = SimTime::max();
  for (std::size_t at = 0; at < steps.size(); ++at) {
    const StageStepPrices& step = steps[at];
    agreed = std::min(agreed, last_sum(plan, parts, step, StageIndex(static_cast<std::int32_t>(at))) + step.norm_part.time);
    sum = std::max(sum, step.world_sum);
    const SimTime own = stepped(plan, step);
    longest = std::max(longest, own), shortest = std::min(shortest, own);
  }
  return agreed + sum + (plan.overlap_weight_gather ? shortest : longest);
}

}  // namespace planner
