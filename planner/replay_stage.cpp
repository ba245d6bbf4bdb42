#include "planner/replay_stage.h"

#include <algorithm>

#include "sim/cost/gradient_lifetime.h"
#include "sim/plan/stage_layers.h"
#include "sim/sharding/sharding.h"
#include "sim/units/at.h"

namespace planner {
namespace {

using sim::LayerIndex;

LayerIndex before(LayerIndex layer) { return LayerIndex(layer.value() - 1); }

ReplayChunk make_chunk(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const StageLayerPrices& prices,
                       sim::LayerRange layers) {
  const LayerIndex last = before(layers.end);
  ReplayChunk chunk;
  chunk.layers = layers;
  chunk.actions_left = static_cast<std::int32_t>(plan.num_pieces());
  for (LayerIndex layer = layers.begin; layer < layers.end; ++layer) {
    const LayerPrice& price = price_of(prices, model, layer);
    chunk.forward = chunk.forward + price.forward;
    append(chunk.forward_stretches, price.forward_stretches, {});
  }
  for (LayerIndex layer = last; layers.begin <= layer; layer = before(layer)) {
    const LayerPrice& price = price_of(prices, model, layer);
    (layer == last ? chunk.ahead : chunk.backward) = (layer == last ? chunk.ahead : chunk.backward) + price.recompute;
    chunk.backward = chunk.backward + price.backward;
    chunk.weight = chunk.weight + price.weight;
    append(chunk.backward_stretches, price.backward_stretches, {.work = price.recompute.time, .kernels = price.again});
  }
  chunk.forward_alone = alone(chunk.forward_stretches), chunk.backward_alone = alone(chunk.backward_stretches);
  return chunk;
}

// Stage 3 has a bucket a unit (two with experts); an embedding that another layer of its stage reads is needed by both.
void find_buckets(ReplayChunk& chunk, const sim::ParallelPlan& plan, const std::vector<BucketPrice>& buckets) {
  const std::size_t layers = sim::count_of(chunk.layers.end.value() - chunk.layers.begin.value());
  chunk.buckets.reserve(2 * layers);
  chunk.buckets_begin.reserve(layers + 1);
  for (LayerIndex layer = chunk.layers.begin; layer < chunk.layers.end; ++layer) {
    const sim::LayerRange unit = sim::unit_of(plan, layer);
    const bool reads_embedding = plan.reads_embedding(layer);
    chunk.buckets_begin.push_back(chunk.buckets.size());
    for (std::size_t at = 0; at < buckets.size(); ++at) {
      const LayerIndex last = buckets[at].ready_after;
      if (!buckets[at].persistent && (buckets[at].shared || plan.offload_parameters) &&
          ((unit.begin <= last && last < unit.end) || (reads_embedding && last == LayerIndex(0))))
        chunk.buckets.push_back(at);
    }
  }
  chunk.buckets_begin.push_back(chunk.buckets.size());
}

struct Reducing {
  const StageLayerPrices& layers;
  const std::vector<BucketPrice>& buckets;
  bool each;
};

// Of a backward's layers, the last one first: when each has ended and the host issues what follows, from when the device, and the host, begin.
std::vector<Paces> ends_of(const ReplayChunk& chunk, const StageLayerPrices& prices, const sim::ModelGraph& model) {
  std::vector<Paces> ends;
  ends.reserve(sim::count_of(chunk.layers.end.value() - chunk.layers.begin.value()));
  PacedTime all;
  for (LayerIndex layer = before(chunk.layers.end); chunk.layers.begin <= layer; layer = before(layer)) {
    const LayerPrice& price = price_of(prices, model, layer);
    if (!ends.empty()) all = all + price.recompute;
    all = all + price.backward;
    ends.push_back({.device = std::max(all.time, all.waited), .host = std::max(all.issued, all.issue)});
  }
  return ends;
}

// Buckets are reduced in turn, each when the backward of its last layer is done: the last reduction ends then plus the time of that bucket and those behind it;
// the latest over all buckets.
void add_up_reductions(ReplayChunk& chunk, const Reducing& prices, const sim::ModelGraph& model) {
  const std::vector<Paces> ends = ends_of(chunk, prices.layers, model);
  std::size_t end = chunk.first_bucket;
  const auto is_own = [&](const BucketPrice& bucket) {
    return !bucket.tied && chunk.layers.begin <= bucket.ready_after && bucket.ready_after < chunk.layers.end;
  };
  while (end < prices.buckets.size() && is_own(prices.buckets[end])) ++end;
  while (end-- > chunk.first_bucket) {
    const BucketPrice& bucket = prices.buckets[end];
    if (bucket.frozen || bucket.delayed) continue;
    chunk.reductions += bucket.reduction(prices.each);
    chunk.reduction_load += bucket.reduce.load;
    chunk.reduction_load += bucket.replica_sum.load;
    const Paces& ready = sim::at(ends, chunk.layers.end.value() - 1 - bucket.ready_after.value());
    chunk.reduced_after = {.device = std::max(chunk.reduced_after.device, ready.device + chunk.reductions),
                           .host = std::max(chunk.reduced_after.host, ready.host + chunk.reductions)};
  }
}

}  // namespace

StageOrders stage_orders(const sim::ParallelPlan& plan) {
  StageOrders orders;
  for (sim::StageIndex stage{0}; stage.value() < plan.mesh.pipeline; ++stage) orders.push_back(plan.order(stage));
  return orders;
}

bool is_pair(const std::vector<sim::StageAction>& order, std::size_t first) {
  return first + 1 < order.size() && order[first].kind == sim::ActionKind::Backward && order[first + 1].kind == sim::ActionKind::Forward;
}

const PacedTime& time_of(const LayerPrice& price, sim::ActionKind kind) {
  return kind == sim::ActionKind::Forward ? price.forward : kind == sim::ActionKind::Backward ? price.backward : price.weight;
}

const Exchange& gather_of(const BucketPrice& price, sim::ActionKind kind, bool near) {
  if (near) return kind == sim::ActionKind::Forward ? price.near_forward_gather : price.near_backward_gather;
  return kind == sim::ActionKind::Forward ? price.forward_gather : price.backward_gather;
}

Turn turn_of(const sim::ParallelPlan& plan, const std::vector<sim::StageAction>& order, std::size_t at) {
  using enum sim::ActionKind;
  const Turn alone{at, at + 1};
  if (!plan.expert_overlap) return alone;
  const auto is = [&](std::size_t one, sim::ActionKind kind) { return one < order.size() && order[one].kind == kind; };
  std::size_t begin = at;
  while (begin > 0 && at - begin < 2 && order[begin].kind != Backward) --begin;
  if (order[begin].kind != Backward) return alone;
  Turn turn{begin, begin + 1};
  if (is(turn.end, Weight) && order[turn.end].microbatch == order[begin].microbatch && order[turn.end].chunk == order[begin].chunk)
    ++turn.end;
  if (is(turn.end, Forward)) ++turn.end;
  return at < turn.end ? turn : alone;
}

bool gathers_units(const sim::ParallelPlan& plan) {
  return plan.offload_parameters || (plan.mesh.copies() > 1 && sim::sharding_strategy(plan).shards_parameters);
}

bool gathers_anew(const sim::ParallelPlan& plan) { return gathers_units(plan) && !sim::stays_gathered(plan, sim::ActionKind::Backward); }

bool adds_on_host(const sim::ParallelPlan& plan) {
  return plan.offload_parameters && plan.accumulation == sim::Accumulation::ReduceEach && plan.num_microbatches() > 1;
}

ReplayStage make_replay_stage(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const PlanPrices& prices,
                              const StageOrders& orders, sim::StageIndex index) {
  const std::vector<BucketPrice>& buckets = prices.steps[index.position()].buckets;
  const bool gathers = gathers_units(plan) && !buckets.empty();
  const sim::StageLayers parts(plan);
  ReplayStage stage;
  stage.index = index.value();
  stage.order = &orders[index.position()];
  if (gathers) stage.gathered.assign(buckets.size(), kNotYet);
  if (gathers) stage.near.assign(buckets.size(), false);
  if (plan.offload_optimizer) stage.on_host.assign(buckets.size(), kNotYet);
  stage.chunks.reserve(sim::count_of(plan.chunks));
  for (sim::ChunkIndex at{0}; at.value() < plan.chunks; ++at) {
    ReplayChunk chunk = make_chunk(model, plan, prices.layers[index.position()], parts.of(index, at));
    const auto first =
        std::find_if(buckets.begin(), buckets.end(), [&](const BucketPrice& bucket) { return bucket.chunk == at && !bucket.tied; });
    chunk.first_bucket = chunk.next_bucket = sim::position_in(buckets, first);
    if (gathers)
      find_buckets(chunk, plan, buckets);
    else
      add_up_reductions(chunk, {prices.layers[index.position()], buckets, sim::reduces_each(plan)}, model);
    if (plan.expert_overlap) chunk.pairs.resize(sim::count_of(plan.chunks));
    stage.chunks.push_back(std::move(chunk));
  }
  return stage;
}

}  // namespace planner
