#include "planner/plan_prices.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "planner/bucket_price.h"
#include "planner/longest_step.h"
#include "planner/recomputation.h"
#include "sim/sharding/sharding.h"
#include "sim/task_graph/source_edges.h"
#include "sim/task_graph/task_graph_builder.h"
#include "sim/units/at.h"

namespace planner {
namespace {

using sim::MeshAxis;
using sim::Operation;
using sim::Phase;
using sim::SimTime;
using sim::StageIndex;

void add_devices(sim::TaskGraphBuilder& builder, const sim::DeviceMesh& mesh) {
  for (StageIndex stage{0}; stage.value() < mesh.pipeline; ++stage)
    builder.add_device({.representative = mesh.rank_of({.stage = stage}), .stage = stage, .multiplicity = mesh.copies() * mesh.tensor});
}

sim::Bytes hidden_of_rank(const sim::ParallelPlan& plan) {
  const sim::Bytes hidden = plan.bytes(sim::Numbers::Activations) * (plan.shard_shape().tokens() * plan.model.hidden);
  return plan.sequence_parallel ? hidden / std::int64_t{plan.mesh.tensor} : hidden;
}

// A task alone on its links still waits for what equal ranks beside it put on them.
SimTime alone(const sim::TaskCost& cost) {
  double load = 1.0;
  for (std::size_t use = 0; use < cost.num_uses; ++use) {
    double on_link = 0.0;
    for (std::size_t other = 0; other < cost.num_uses; ++other)
      if (cost.uses[other].link == cost.uses[use].link) on_link += cost.uses[other].share;
    load = std::max(load, on_link);
  }
  if (load == 1.0) return cut_off(cost.duration);
  return cut_off(clamped(picoseconds(cost.duration) * load));
}

SimTime load_on(const sim::TaskCost& cost, sim::LinkId link) {
  __extension__ using Work = __int128;  // shares are whole numbers of 2^-20 (cost_model.h)
  constexpr std::int64_t kUnits = 1 << 20;
  SimTime load{};
  for (std::size_t use = 0; use < cost.num_uses; ++use)
    if (cost.uses[use].link == link)
      load += SimTime(static_cast<std::int64_t>(Work{cut_off(cost.duration).count()} *
                                                static_cast<std::int64_t>(cost.uses[use].share * kUnits) / kUnits));
  return load;
}

// Where two microbatches run together their tasks are issued in another order. Units are begun where parameters are sharded, which no price of a layer depends on.
bool knows_host(const sim::ParallelPlan& plan) { return !plan.expert_overlap && plan.cluster.software.host_per_unit.count() == 0; }

sim::Task with_piece(sim::Task task, const sim::Piece& piece) {
  task.key.operation = piece.operation, task.key.group = piece.group, task.key.sequence = piece.sequence;
  task.payload = piece.payload;
  if (piece.group != MeshAxis::None) task.stream = piece.group == MeshAxis::Tensor ? sim::Stream::Tensor : sim::Stream::Exchange;
  return task;
}

// Where reductions stand in the order of the kernels, an exchange that the recomputation begins with runs beside them: it does not wait for the queue.
std::vector<sim::Piece> in_the_queue(std::vector<sim::Piece> pieces, const sim::ParallelPlan& plan) {
  if (sim::stream_order(plan) != sim::StreamOrder::ReduceInOrder) return pieces;
  const auto computes = [](const sim::Piece& piece) { return piece.group == MeshAxis::None; };
  pieces.erase(pieces.begin(), std::ranges::find_if(pieces, computes));
  return pieces;
}

}  // namespace

sim::TaskGraph devices_without_buckets(const sim::ParallelPlan& plan) {
  sim::TaskGraphBuilder builder;
  add_devices(builder, plan.mesh);
  return std::move(builder).freeze();
}

sim::TaskGraph devices_of(const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
  sim::TaskGraphBuilder builder;
  add_devices(builder, plan.mesh);
  std::vector<std::vector<sim::Bucket>> buckets;
  for (StageIndex stage{0}; stage.value() < plan.mesh.pipeline; ++stage) buckets.push_back(sim::make_buckets(model, plan, stage));
  builder.set_buckets(std::move(buckets));
  return std::move(builder).freeze();
}

Pricer::Pricer(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const sim::TaskGraph& devices)
    : model_(model), plan_(plan), devices_(devices), placement_(plan), costs_(model, plan) {}

// Of pairs a task is asked about again, as one of a stretch.
sim::TaskCost Pricer::cost(const sim::Task& task) const {
  return plan_.expert_overlap ? costs_.cost(task, devices_) : costs_.price(task, devices_);
}

Exchange Pricer::exchange(sim::Task task) const {
  task.device = sim::DeviceId(task.key.stage.value());
  const sim::TaskCost cost = this->cost(task);
  const sim::Rank rank = devices_.devices()[task.device.position()].representative;
  return {.time = alone(cost), .load = {.port = load_on(cost, placement_.port(rank)), .uplink = load_on(cost, placement_.uplink(rank))}};
}

IssuedTask Pricer::issued(sim::Task task) const {
  task.device = sim::DeviceId(task.key.stage.value());
  const sim::TaskCost cost = this->cost(task);
  return knows_host(plan_) ? IssuedTask{.time = alone(cost), .issue = cut_off(cost.issue), .drains = cost.drains}
                           : IssuedTask{.time = alone(cost)};
}

SimTime Pricer::held(sim::Task task) const {
  task.device = sim::DeviceId(task.key.stage.value());
  const sim::TaskCost cost = this->cost(task);
  const sim::Rank rank = devices_.devices()[task.device.position()].representative;
  return alone(cost) == cut_off(cost.duration) ? load_on(cost, placement_.device(rank)) : SimTime{};
}

bool Pricer::may_hide(const sim::Piece& piece) const {
  return plan_.expert_overlap && !piece.within && (piece.group == MeshAxis::Expert || piece.group == MeshAxis::ExpertTensor);
}

PacedTime Pricer::pieces(const sim::Task& of, const std::vector<sim::Piece>& pieces, SimTime& computing) const {
  PacedTime sum;
  IssuedTask beside;
  for (const sim::Piece& piece : pieces) {
    if (may_hide(piece)) continue;
    const IssuedTask one = issued(with_piece(of, piece));
    if (piece.group == MeshAxis::None) computing += one.time;
    beside = {.time = std::max(beside.time, one.time), .issue = beside.issue + one.issue, .drains = beside.drains || one.drains};
    if (piece.beside_next) continue;
    sum = sum + paced(std::exchange(beside, {}));
  }
  return sum;
}

namespace {

// Pieces that run together.
struct Together {
  SimTime all{}, others{}, exchange{};  // others: than exchanges of tokens
  SimTime kernels{}, held{};
  bool computes = false;

  void add_to(Stretch& open) const {
    const SimTime beyond = all - others;
    if (computes) {
      (open.work.count() > 0 ? open.work : open.lead) += std::exchange(open.rest, {});
      open.work += others;
      open.kernels += kernels;
      open.exchange = open.held = {};
    } else {
      (open.work.count() > 0 ? open.rest : open.lead) += others;
    }
    open.rest += beyond;
    if (exchange.count() == 0) return;
    const bool is_known = others.count() == 0 && held.count() > 0 && (open.held.count() > 0 || open.exchange.count() == 0);
    open.held = is_known ? open.held + held : SimTime{};
    open.exchange += std::min(exchange, beyond);
  }
};

}  // namespace

std::vector<Stretch> Pricer::stretches(const sim::Task& of, const std::vector<sim::Piece>& pieces) const {
  std::vector<Stretch> all(1);
  Together now;
  for (std::size_t at = 0; at < pieces.size(); ++at) {
    const sim::Piece& piece = pieces[at];
    const sim::Task task = with_piece(of, piece);
    const SimTime time = issued(task).time;
    const bool exchanges = may_hide(piece);
    SimTime& of_device = exchanges ? now.held : now.kernels;
    if (exchanges || piece.group == MeshAxis::None) of_device = std::max(of_device, held(task));
    now.all = std::max(now.all, time);
    (exchanges ? now.exchange : now.others) = std::max(exchanges ? now.exchange : now.others, time);
    now.computes |= piece.group == MeshAxis::None;
    if (piece.beside_next) continue;
    std::exchange(now, {}).add_to(all.back());
    if (exchanges && (at + 1 == pieces.size() || !may_hide(pieces[at + 1]))) all.emplace_back();
  }
  return all;
}

sim::Task Pricer::task_of(StageIndex stage, sim::LayerIndex layer, Phase phase) const {
  const auto slice = plan_.slices > 1 ? sim::SliceIndex(0) : sim::SliceIndex::none();  // of a bound: the shortest
  const auto microbatch =
      plan_.delays_weights(layer) ? sim::MicrobatchIndex(0) : sim::MicrobatchIndex::none();  // of a bound: one that delays them
  return {.key = {.stage = stage, .microbatch = microbatch, .slice = slice, .layer = layer, .phase = phase}};
}

void Pricer::price_backward(LayerPrice& price, const sim::Task& task, sim::LayerIndex layer) const {
  const std::vector<sim::Piece> all = backward_pieces(model_, plan_, layer);
  price.backward = pieces(task, all, price.gone_back);
  price.computing += price.gone_back;
  if (!plan_.expert_overlap || plan_.splits_backward()) return;
  price.backward_stretches = stretches(task, all);
  price.backward_in_turn = in_turn(price.backward_stretches);
}

void Pricer::price_again(LayerPrice& price, const sim::Task& task, sim::LayerIndex layer) const {
  if (!spares_some(plan_)) price.recompute = pieces(task, in_the_queue(recompute_pieces(model_, plan_, layer), plan_), price.again);
  price.computing += price.again;
}

LayerPrice Pricer::layer(StageIndex stage, sim::LayerIndex layer) const {
  LayerPrice price;
  const sim::Task forward = task_of(stage, layer, Phase::Forward);
  const std::vector<sim::Piece> all = forward_pieces(model_, plan_, layer);
  price.forward = pieces(forward, all, price.computing);
  if (plan_.expert_overlap && !plan_.splits_backward()) {
    price.forward_stretches = stretches(forward, all);
    price.forward_in_turn = in_turn(price.forward_stretches);
  }
  price_backward(price, task_of(stage, layer, Phase::Backward), layer);
  if (plan_.splits_backward() || plan_.delays_weights(layer))
    price.weight = pieces(task_of(stage, layer, Phase::Weight), weight_pieces(model_, layer), price.computing);
  price_again(price, task_of(stage, layer, Phase::Recompute), layer);
  return price;
}

// A module that is computed again by its name runs in the backward.
LayerPrice Pricer::layer(StageIndex stage, sim::LayerIndex layer, const LayerPrice& bare) const {
  LayerPrice price = bare;
  if (plan_.recompute != sim::Recompute::Full) {
    price.computing -= std::exchange(price.gone_back, SimTime{});
    price_backward(price, task_of(stage, layer, Phase::Backward), layer);
  }
  price_again(price, task_of(stage, layer, Phase::Recompute), layer);
  return price;
}

Pricer::Lie Pricer::lie(StageIndex stage, std::initializer_list<MeshAxis> axes) const {
  const sim::GraphDevice& device = devices_.devices()[stage.position()];
  Lie lie{placement_.alike_on_node(device, devices_.fold())};
  for (const MeshAxis axis : axes) {
    const sim::Slowest slowest = placement_.slowest_group(device, devices_.fold(), axis);
    const std::int32_t on_own_links = slowest.rank == device.representative ? 1 : 0;
    for (const std::int32_t number : {slowest.group.ranks, slowest.group.on_node, slowest.crossing, on_own_links}) lie.push_back(number);
    lie.insert(lie.end(), slowest.group.in_pods.begin(), slowest.group.in_pods.end());
  }
  return lie;
}

Pricer::Lie Pricer::lie(StageIndex stage) const {
  return lie(stage, {MeshAxis::Tensor, MeshAxis::Context, MeshAxis::Expert, MeshAxis::ExpertTensor});
}

Pricer::Lie Pricer::lie_of_buckets(StageIndex stage) const {
  return lie(stage, {MeshAxis::Data, MeshAxis::ExpertData, MeshAxis::Reshard, MeshAxis::Distant, MeshAxis::Replica, MeshAxis::Embedding});
}

StageLayerPrices Pricer::layers(StageIndex stage) const {
  StageLayerPrices prices(model_.firsts.size());
  for (const sim::LayerIndex first : model_.firsts) prices[model_.kind(first)] = layer(stage, first);
  return prices;
}

// Adapters' first products go backward otherwise where their inputs are computed again (task_kernels.cpp).
StageLayerPrices Pricer::layers(StageIndex stage, const StageLayerPrices& bare) const {
  if (model_.config.adapters) return layers(stage);
  StageLayerPrices prices(model_.firsts.size());
  for (const sim::LayerIndex first : model_.firsts) prices[model_.kind(first)] = layer(stage, first, bare[model_.kind(first)]);
  return prices;
}

std::vector<StageLayerPrices> Pricer::layers() const {
  std::vector<StageLayerPrices> prices;
  std::map<Lie, std::size_t> known;
  for (StageIndex stage{0}; stage.value() < plan_.mesh.pipeline; ++stage) {
    const auto [alike, is_new] = known.try_emplace(lie(stage), stage.position());
    if (!is_new) {
      prices.push_back(prices[alike->second]);
      continue;
    }
    prices.push_back(layers(stage));
  }
  return prices;
}

TransferPrices Pricer::transfers(StageIndex stage, std::int32_t direction) const {
  const std::int32_t stages = plan_.mesh.pipeline;
  const sim::DeviceId next((stage.value() + stages + direction) % stages), previous((stage.value() + stages - direction) % stages);
  const sim::Bytes least = hidden_of_rank(plan_) - sim::source_edges(plan_).rows;  // a message need not hold the source
  const auto transfer = [&](Phase phase, Operation operation, sim::DeviceId peer) {
    return price(
        {.key = {.stage = stage, .phase = phase, .operation = operation, .group = MeshAxis::Pipeline}, .payload = least, .peer = peer});
  };
  return {.forward_post = transfer(Phase::Forward, Operation::Send, next),
          .forward_receive = transfer(Phase::Forward, Operation::Receive, previous),
          .backward_post = transfer(Phase::Backward, Operation::Send, previous),
          .backward_receive = transfer(Phase::Backward, Operation::Receive, next)};
}

std::vector<StageTransfers> Pricer::transfers() const {
  std::vector<StageTransfers> prices(sim::count_of(plan_.mesh.pipeline));
  if (plan_.mesh.pipeline == 1) return prices;
  for (StageIndex stage{0}; stage.value() < plan_.mesh.pipeline; ++stage)
    prices[stage.position()] = {transfers(stage, 1), transfers(stage, -1)};
  return prices;
}

const Pricer::PricedBucket& Pricer::priced(StageIndex stage, sim::BucketIndex index, std::vector<PricedBucket>& known) const {
  const std::vector<sim::Bucket>& buckets = devices_.buckets()[stage.position()];
  const sim::Bucket& bucket = buckets[index.position()];
  const auto alike = std::ranges::find_if(known, [&](const PricedBucket& one) { return take_the_same(model_, *one.bucket, bucket); });
  if (alike != known.end()) return *alike;
  PricedBucket& priced = known.emplace_back(PricedBucket{&bucket, bucket_price(*this, plan_, {buckets, stage, index})});
  for (const sim::BucketSlot& slot : bucket.slots)
    if (!slot.frozen && is_summed_over_tensor(slot)) {
      priced.replicated += slot.elements;
      priced.widest = std::max(priced.widest, plan_.bytes(sim::Numbers::Wire, slot.layer));
    }
  return priced;
}

StageStepPrices Pricer::step(StageIndex stage, std::vector<PricedBucket>& known) const {
  StageStepPrices prices;
  std::int64_t replicated = 0;
  sim::Bytes widest{};
  const std::vector<sim::Bucket>& buckets = devices_.buckets()[stage.position()];
  for (std::size_t at = 0; at < buckets.size(); ++at) {
    const PricedBucket& one = priced(stage, sim::BucketIndex(static_cast<std::int32_t>(at)), known);
    prices.buckets.push_back(one.price);
    prices.buckets.back().ready_after = buckets[at].ready_after;
    prices.buckets.back().chunk = buckets[at].chunk;
    replicated += one.replicated;
    widest = std::max(widest, one.widest);
  }
  const auto task = [&](Phase phase, Operation operation, MeshAxis group, sim::Bytes payload) {
    return price({.key = {.stage = stage, .phase = phase, .operation = operation, .group = group}, .payload = payload});
  };
  if (replicated > 0) prices.replicated_sum = task(Phase::Gradients, Operation::AllReduce, MeshAxis::Tensor, widest * replicated);
  prices.norm_part = pace({.key = {.stage = stage, .phase = Phase::Step, .operation = Operation::NormPart}});
  if (plan_.mesh.ranks() > 1) prices.world_sum = task(Phase::Step, Operation::AllReduce, MeshAxis::World, sim::kStepSummary);
  return prices;
}

// The copy of a token table is split as the embedding is.
bool Pricer::is_summed_over_tensor(const sim::BucketSlot& slot) const {
  const std::vector<sim::Parameter>& own = model_.layer(slot.layer).parameters;
  const bool is_copy = std::cmp_greater_equal(slot.parameter, own.size());
  const sim::Parameter& parameter = is_copy ? model_.layers.front().parameters.front() : sim::at(own, slot.parameter);
  return sim::sums_over_tensor(parameter, plan_);
}

std::vector<StageStepPrices> Pricer::steps() const {
  std::vector<StageStepPrices> prices;
  std::map<Lie, std::vector<PricedBucket>> known;
  for (StageIndex stage{0}; stage.value() < plan_.mesh.pipeline; ++stage) prices.push_back(step(stage, known[lie_of_buckets(stage)]));
  return prices;
}

}  // namespace planner
