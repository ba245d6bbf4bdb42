#include "planner/replay.h"

#include <algorithm>
#include <optional>
#include <span>

#include "sim/cost/gradient_lifetime.h"
#include "sim/sharding/sharding.h"
#include "sim/units/at.h"

namespace planner {
namespace {

using sim::ActionKind;
using sim::LayerIndex;
using sim::SimTime;
using sim::StageAction;
using sim::Stream;

class Replay {
 public:
  Replay(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const PlanPrices& prices, const StageOrders& orders);
  SimTime run() &&;

 private:
  struct Since {                 // of an action
    SimTime begin{}, arrived{};  // its stage has ended the one before, and what it reads is there; that alone
  };
  struct Visit {
    LayerIndex layer;
    ActionKind kind = ActionKind::Forward;
    std::int32_t chunk = 0;
  };

  const LayerPrice& price(const ReplayStage& stage, LayerIndex layer) const {
    return price_of(sim::at(prices_.layers, stage.index), model_, layer);
  }
  SimTime& free(ReplayStage& stage, Stream stream) { return sim::at(stage.free, sim::queue_of(stream_order_, stream)); }
  SimTime perform(ReplayStage& stage, Stream stream, SimTime after, SimTime duration);
  SimTime compute(ReplayStage& stage, SimTime after, const PacedTime& tasks);
  SimTime& sent(const StageAction& action, std::int32_t virtual_stage);

  std::int32_t virtual_stage_of(const ReplayStage& stage, const StageAction& action) const {
    return sim::virtual_stage(placement_, shape_, {sim::StageIndex(stage.index), action.chunk});
  }
  bool is_local(const ReplayStage& stage, std::int32_t virtual_stage) const {
    return sim::site_of(placement_, shape_, virtual_stage).stage.value() == stage.index;
  }
  const TransferPrices& transfers(const ReplayStage& stage, const StageAction& action) const;

  bool is_handed(const ReplayStage& stage, const StageAction& action, std::int32_t virtual_stage, std::int32_t steps) const;
  std::span<const std::size_t> read_by(const ReplayStage& stage, const Visit& visit) const;
  bool may_stay(const ReplayStage& stage, std::size_t bucket) const;
  bool advance(ReplayStage& stage);
  void act(ReplayStage& stage, const StageAction& action, SimTime arrived);
  void wait_for_tokens(ReplayStage& stage, const StageAction& action, Since since);
  void run_layers(ReplayStage& stage, const StageAction& action, SimTime arrived);
  SimTime gather(ReplayStage& stage, const Visit& visit);
  void reshard(ReplayStage& stage, const Visit& visit, const Visit* next);
  std::optional<Visit> behind(const ReplayStage& stage, const Visit& visit, std::int32_t visits, std::size_t& action) const;
  SimTime gather_ahead(ReplayStage& stage, const Visit& visit);
  std::int32_t left_in_unit(const ReplayStage& stage, const Visit& visit) const;
  Visit first_visit(const ReplayStage& stage, const StageAction& action) const;
  SimTime weights_done(ReplayStage& stage, const Visit& visit);
  void reduce_ready(ReplayStage& stage, const Visit& visit);
  void delayed_weights();
  void reduce(ReplayStage& stage, std::size_t bucket, SimTime done);
  void step_in_backward(ReplayStage& stage, const BucketPrice& bucket, SimTime reduced);
  void add_on_host(ReplayStage& stage, std::size_t bucket, SimTime reduced);
  void copy_to_host(ReplayStage& stage, std::size_t bucket, SimTime after);
  void copy_rest_to_host();
  SimTime update(ReplayStage& stage, std::size_t bucket, SimTime agreed);
  void send(ReplayStage& stage, const StageAction& action);
  void wait_for_links(ReplayStage& stage);
  void finish_gradients();
  SimTime step();

  const sim::ModelGraph& model_;
  const sim::ParallelPlan& plan_;
  const PlanPrices& prices_;
  sim::StreamOrder stream_order_;
  bool gathers_, reduces_, reduces_each_, offloads_, adds_on_host_;
  bool adds_up_;   // the reductions of an action, instead of going through its layers: nothing is in their way
  bool is_paced_;  // by hosts that begin with the step
  ActionKind completes_gradients_;
  sim::ChunkPlacement placement_;
  sim::PipelineShape shape_;
  std::int32_t virtual_stages_;
  std::int64_t pieces_;
  std::vector<ReplayStage> stages_;
  std::vector<SimTime> forward_sent_, backward_sent_;  // by (receiving virtual stage, piece)
};

Replay::Replay(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const PlanPrices& prices, const StageOrders& orders)
    : model_(model),
      plan_(plan),
      prices_(prices),
      stream_order_(sim::stream_order(plan)),
      gathers_(gathers_units(plan) && !prices.steps.front().buckets.empty()),
      reduces_(plan.mesh.copies() > 1),
      reduces_each_(sim::reduces_each(plan)),
      offloads_(plan.offload_optimizer),
      adds_on_host_(adds_on_host(plan)),
      adds_up_(!offloads_ && sim::queue_of(stream_order_, Stream::Reduce) != sim::queue_of(stream_order_, Stream::Compute)),
      is_paced_(!plan.overlap_weight_gather),
      completes_gradients_(plan.completes_gradients()),
      placement_(plan.placement()),
      shape_(plan.pipeline_shape()),
      virtual_stages_(plan.mesh.pipeline * plan.chunks),
      pieces_(plan.num_pieces()) {
  const std::size_t transfers = sim::count_of(virtual_stages_) * sim::count_of(pieces_);
  forward_sent_.assign(transfers, kNotYet);
  backward_sent_.assign(transfers, kNotYet);
  for (std::size_t at = 0; at < orders.size(); ++at)
    stages_.push_back(make_replay_stage(model, plan, prices, orders, sim::StageIndex(static_cast<std::int32_t>(at))));
}

SimTime Replay::perform(ReplayStage& stage, Stream stream, SimTime after, SimTime duration) {
  SimTime& stream_free = free(stage, stream);
  stream_free = std::max(stream_free, after) + duration;
  return stream_free;
}

// Where there is no task nothing waits, or ends later.
SimTime Replay::compute(ReplayStage& stage, SimTime after, const PacedTime& tasks) {
  if (tasks.issued == kNever) return stage.computed;
  SimTime& device = free(stage, Stream::Compute);
  Paces paces{.device = std::max(device, after), .host = stage.host};
  if (!is_paced_) return stage.computed = device = paces.device + tasks.time;
  paces.take(tasks);
  stage.host = paces.host;
  return stage.computed = device = paces.device;
}

SimTime& Replay::sent(const StageAction& action, std::int32_t virtual_stage) {
  auto& times = action.kind == ActionKind::Forward ? forward_sent_ : backward_sent_;
  return times[sim::count_of(virtual_stage) * sim::count_of(pieces_) + plan_.piece_of(action)];
}

const TransferPrices& Replay::transfers(const ReplayStage& stage, const StageAction& action) const {
  const StageTransfers& prices = sim::at(prices_.transfers, stage.index);
  const bool comes_up = placement_ == sim::ChunkPlacement::V && action.chunk.value() % 2 == 1;
  return comes_up ? prices.up : prices.down;
}

// Whether something crosses to the virtual stage so many on, or comes from there: of a backward, where the layers in front of the boundary have one.
bool Replay::is_handed(const ReplayStage& stage, const StageAction& action, std::int32_t virtual_stage, std::int32_t steps) const {
  const std::int32_t other = virtual_stage + steps;
  if (action.kind == ActionKind::Weight || other < 0 || other >= virtual_stages_) return false;
  const sim::LayerRange& layers = stage.chunks[action.chunk.position()].layers;
  return action.kind == ActionKind::Forward || model_.goes_back(LayerIndex((steps > 0 ? layers.end : layers.begin).value() - 1));
}

// The stage's next action, if what it reads has been sent.
bool Replay::advance(ReplayStage& stage) {
  if (stage.next == stage.order->size()) return false;
  const StageAction& action = (*stage.order)[stage.next];
  const bool forward = action.kind == ActionKind::Forward;
  const std::int32_t virtual_stage = virtual_stage_of(stage, action);
  SimTime arrived{};
  if (is_handed(stage, action, virtual_stage, forward ? -1 : 1)) {
    const SimTime ready = sent(action, virtual_stage);
    if (ready == kNotYet) return false;
    const TransferPrices& prices = transfers(stage, action);
    arrived = is_local(stage, virtual_stage + (forward ? -1 : 1))
                  ? ready
                  : perform(stage, Stream::Receive, ready, forward ? prices.forward_receive : prices.backward_receive);
  }
  act(stage, action, arrived);
  ++stage.next;
  return true;
}

void Replay::act(ReplayStage& stage, const StageAction& action, SimTime arrived) {
  ReplayChunk& chunk = stage.chunks[action.chunk.position()];
  if (action.kind == ActionKind::Backward) chunk.went_back = std::max(free(stage, Stream::Compute), arrived);
  const bool is_last = action.kind == completes_gradients_ && --chunk.actions_left == 0;
  const bool reduces = action.kind == completes_gradients_ && (is_last || reduces_each_ || adds_on_host_) && (reduces_ || offloads_);
  if (plan_.optimizer_in_backward && action.kind == completes_gradients_) return run_layers(stage, action, arrived);
  if (gathers_ || (reduces && (!adds_up_ || action.kind == ActionKind::Weight))) return run_layers(stage, action, arrived);
  if (action.kind == ActionKind::Weight) {
    compute(stage, SimTime{}, chunk.weight);
    return;
  }
  const bool forward = action.kind == ActionKind::Forward;
  if (!forward) compute(stage, SimTime{}, chunk.ahead);
  const Paces begin{.device = std::max(free(stage, Stream::Compute), arrived), .host = stage.host};
  compute(stage, arrived, forward ? chunk.forward : chunk.backward);
  if (reduces) {
    SimTime& reduced = free(stage, Stream::Reduce);
    reduced = std::max(reduced + chunk.reductions, begin.device + chunk.reduced_after.device);
    if (is_paced_) reduced = std::max(reduced, begin.host + chunk.reduced_after.host);
    stage.load += chunk.reduction_load;
  }
  if (plan_.expert_overlap)
    wait_for_tokens(stage, action, {.begin = begin.device, .arrived = arrived});
  else
    send(stage, action);
}

// An action waits for the exchanges of its tokens, whatever it runs beside; of a pair the kernels of the other one run meanwhile, and the stage goes on when
// both have ended.
void Replay::wait_for_tokens(ReplayStage& stage, const StageAction& action, Since since) {
  ReplayChunk& chunk = sim::at(stage.chunks, action.chunk.value());
  SimTime& device = free(stage, Stream::Compute);
  const SimTime computed = device;
  if (is_pair(*stage.order, stage.next)) {
    const ReplayChunk& other = sim::at(stage.chunks, (*stage.order)[stage.next + 1].chunk.value());
    PairTime& pair = chunk.pairs[(*stage.order)[stage.next + 1].chunk.position()];
    if (pair.all.count() == 0) pair = pair_time(chunk.backward_stretches, other.forward_stretches);
    stage.computed = std::max(computed, since.begin + pair.backward);
    stage.pair_end = std::max(stage.computed, since.begin + pair.all);
    send(stage, action);
    device = computed;
    return;
  }
  const bool second = stage.next > 0 && is_pair(*stage.order, stage.next - 1);
  const SimTime alone = action.kind == ActionKind::Forward ? chunk.forward_alone : chunk.backward_alone;
  stage.computed = device = std::max(computed, second ? std::max(stage.pair_end, since.arrived + alone) : since.begin + alone);
  send(stage, action);
}

Replay::Visit Replay::first_visit(const ReplayStage& stage, const StageAction& action) const {
  const sim::LayerRange& layers = stage.chunks[action.chunk.position()].layers;
  const bool forward = action.kind == ActionKind::Forward;
  return {.layer = forward ? layers.begin : LayerIndex(layers.end.value() - 1), .kind = action.kind, .chunk = action.chunk.value()};
}

// So many visits on within its action, else the next action's first. None: the step ends.
std::optional<Replay::Visit> Replay::behind(const ReplayStage& stage, const Visit& visit, std::int32_t visits, std::size_t& action) const {
  const sim::LayerRange& layers = sim::at(stage.chunks, visit.chunk).layers;
  const LayerIndex layer(visit.layer.value() + (visit.kind == ActionKind::Forward ? visits : -visits));
  if (layers.begin <= layer && layer < layers.end) return Visit{.layer = layer, .kind = visit.kind, .chunk = visit.chunk};
  if (++action == stage.order->size()) return std::nullopt;
  return first_visit(stage, (*stage.order)[action]);
}

// Visits of its action that a unit has left, this one included; what reads no weights stands alone.
std::int32_t Replay::left_in_unit(const ReplayStage& stage, const Visit& visit) const {
  if (plan_.layers_per_unit == 1 || read_by(stage, visit).empty()) return 1;
  const sim::LayerRange unit = sim::unit_of(plan_, visit.layer);
  return visit.kind == ActionKind::Forward ? unit.end.value() - visit.layer.value() : visit.layer.value() - unit.begin.value() + 1;
}

void Replay::run_layers(ReplayStage& stage, const StageAction& action, SimTime arrived) {
  ReplayChunk& chunk = stage.chunks[action.chunk.position()];
  Visit visit = first_visit(stage, action);
  if (plan_.expert_overlap && turn_of(plan_, *stage.order, stage.next).begin == stage.next) stage.turn_begin = stage.computed;
  std::int32_t left = chunk.layers.end.value() - chunk.layers.begin.value();
  for (; left > 0; --left) {
    std::size_t now = stage.next;
    const std::optional<Visit> next = behind(stage, visit, 1, now);
    const SimTime gathered = gathers_ ? gather_ahead(stage, visit) : SimTime{};
    const LayerPrice& layer = price(stage, visit.layer);
    if (visit.kind == ActionKind::Backward) compute(stage, gathered, layer.recompute);
    compute(stage, std::max(arrived, gathered), time_of(layer, visit.kind));
    if (left == 1 && visit.kind != ActionKind::Weight) send(stage, action);
    if (gathers_) reshard(stage, visit, next ? &*next : nullptr);
    if (visit.kind == completes_gradients_ && (reduces_each_ || adds_on_host_ || chunk.actions_left == 0)) reduce_ready(stage, visit);
    if (next) visit = *next;
  }
}

// The buckets whose weights a visit reads.
std::span<const std::size_t> Replay::read_by(const ReplayStage& stage, const Visit& visit) const {
  const bool reads = visit.kind == ActionKind::Forward || (visit.kind == ActionKind::Backward && model_.goes_back(visit.layer));
  return reads ? sim::at(stage.chunks, visit.chunk).buckets_of(visit.layer) : std::span<const std::size_t>{};
}

// Of the visit, and of as many units behind it as the plan says, in its action and those behind.
SimTime Replay::gather_ahead(ReplayStage& stage, const Visit& visit) {
  const SimTime gathered = gather(stage, visit);
  std::size_t action = stage.next;
  std::optional<Visit> coming = visit;
  for (std::int32_t unit = 0; unit < plan_.prefetch && coming; ++unit)
    if (coming = behind(stage, *coming, left_in_unit(stage, *coming), action); coming) gather(stage, *coming);
  return gathered;
}

// Starts what is not there yet once the computation so far is done and the host issues it; returns when all of it is there. Of actions that run in turn each
// may begin a gather at any time, and computes while another's is under way: none is known to wait.
SimTime Replay::gather(ReplayStage& stage, const Visit& visit) {
  const bool in_turn = plan_.expert_overlap && !turn_of(plan_, *stage.order, stage.next).is_alone();
  const SimTime since = in_turn ? stage.turn_begin : stage.computed;
  const std::vector<BucketPrice>& prices = sim::at(prices_.steps, stage.index).buckets;
  SimTime all{};
  for (const std::size_t bucket : read_by(stage, visit)) {
    SimTime& there = stage.gathered[bucket];
    if (there == kNotYet) {
      const Exchange& gather = gather_of(prices[bucket], visit.kind, stage.near[bucket]);
      there = plan_.offload_parameters ? perform(stage, Stream::ToDevice, since, prices[bucket].bring) : since;
      if (gather.time.count() > 0) there = perform(stage, Stream::Gather, std::max(there, stage.host), gather.time);
      stage.load += gather.load;
    }
    if (plan_.kept_until == sim::KeptUntil::Backward) stage.near[bucket] = false;
    all = std::max(all, there);
  }
  return in_turn ? SimTime{} : all;
}

// Of actions that run in turn: what one behind it reads, or what comes behind all of them.
bool Replay::may_stay(const ReplayStage& stage, std::size_t bucket) const {
  if (!plan_.expert_overlap) return false;
  const std::vector<StageAction>& order = *stage.order;
  const Turn turn = turn_of(plan_, order, stage.next);
  if (turn.is_alone()) return false;
  const auto holds = [&](std::span<const std::size_t> buckets) { return std::ranges::find(buckets, bucket) != buckets.end(); };
  for (std::size_t at = stage.next + 1; at < turn.end; ++at)
    if (order[at].kind == ActionKind::Forward && holds(stage.chunks[order[at].chunk.position()].buckets)) return true;
  return turn.end < order.size() && holds(read_by(stage, first_visit(stage, order[turn.end])));
}

void Replay::reshard(ReplayStage& stage, const Visit& visit, const Visit* next) {
  if (sim::stays_gathered(plan_, visit.kind)) return;  // until its last use: no gather follows
  const std::span<const std::size_t> kept = next == nullptr ? std::span<const std::size_t>{} : read_by(stage, *next);
  for (const std::size_t bucket : read_by(stage, visit))
    if (std::ranges::find(kept, bucket) == kept.end() && !may_stay(stage, bucket)) {
      stage.gathered[bucket] = kNotYet;
      const bool keeps = visit.kind == ActionKind::Forward || plan_.kept_until == sim::KeptUntil::Step;
      stage.near[bucket] = keeps && sim::at(prices_.steps, stage.index).buckets[bucket].stays_near;
    }
}

// Weight gradients that are delayed run beside the backward of the layers below, as soon as that of their own has ended.
SimTime Replay::weights_done(ReplayStage& stage, const Visit& visit) {
  if (visit.kind != ActionKind::Weight || !plan_.expert_overlap) return stage.computed;
  ReplayChunk& chunk = sim::at(stage.chunks, visit.chunk);
  const LayerPrice& layer = price(stage, visit.layer);
  chunk.went_back += layer.backward.time;
  return chunk.went_back + layer.weight.time;
}

void Replay::reduce_ready(ReplayStage& stage, const Visit& visit) {
  ReplayChunk& chunk = sim::at(stage.chunks, visit.chunk);
  const SimTime done = weights_done(stage, visit);
  const std::vector<BucketPrice>& buckets = sim::at(prices_.steps, stage.index).buckets;
  if (!reduces_ && !offloads_ && !plan_.optimizer_in_backward) return;
  if (visit.layer.value() + 1 == chunk.layers.end.value()) chunk.next_bucket = chunk.first_bucket;
  for (; chunk.next_bucket < buckets.size(); ++chunk.next_bucket) {
    const BucketPrice& bucket = buckets[chunk.next_bucket];
    if (bucket.ready_after != visit.layer || bucket.tied) return;
    if (!bucket.frozen && !bucket.delayed) reduce(stage, chunk.next_bucket, done);
  }
}

// Behind the stage's last backward (StageWriter::write_delayed_weights).
void Replay::delayed_weights() {
  const LayerIndex head = model_.head();
  if (!plan_.delays_weights(head)) return;
  for (ReplayStage& stage : stages_) {
    if (!plan_.owns(sim::StageIndex(stage.index), head)) continue;
    const std::vector<BucketPrice>& buckets = sim::at(prices_.steps, stage.index).buckets;
    for (std::int64_t left = std::min<std::int64_t>(plan_.delay_head_wgrad, plan_.num_microbatches()); left > 0; --left) {
      compute(stage, SimTime{}, price(stage, head).weight);
      for (std::size_t bucket = 0; bucket < buckets.size(); ++bucket)
        if (buckets[bucket].delayed && !buckets[bucket].tied && !buckets[bucket].frozen && (reduces_each_ || adds_on_host_ || left == 1))
          reduce(stage, bucket, stage.computed);
    }
  }
}

void Replay::reduce(ReplayStage& stage, std::size_t index, SimTime done) {
  const StageStepPrices& step = sim::at(prices_.steps, stage.index);
  const BucketPrice& bucket = step.buckets[index];
  const SimTime ready = std::max(done, stage.host);
  const SimTime reduced = perform(stage, Stream::Reduce, ready, bucket.reduction(reduces_each_ && !adds_on_host_));
  stage.load += bucket.reduce.load;
  stage.load += bucket.replica_sum.load;
  if (plan_.optimizer_in_backward)
    step_in_backward(stage, bucket, reduced);
  else if (adds_on_host_)
    add_on_host(stage, index, bucket.shared ? reduced : done);
  else if (!step.replicated_sum && sim::at(stage.chunks, bucket.chunk.value()).actions_left == 0)
    copy_to_host(stage, index, bucket.shared ? reduced : done);
}

// Behind its sum, beside the backward of the layers below; where nobody reduces it, in front of them.
void Replay::step_in_backward(ReplayStage& stage, const BucketPrice& bucket, SimTime reduced) {
  if (bucket.shared)
    perform(stage, Stream::Reduce, std::max(reduced, stage.host), bucket.update.time);
  else
    compute(stage, SimTime{}, bucket.update);
}

// Behind the first microbatch what the host has comes up to be added to.
void Replay::add_on_host(ReplayStage& stage, std::size_t bucket, SimTime reduced) {
  const BucketPrice& price = sim::at(prices_.steps, stage.index).buckets[bucket];
  if (const SimTime before = stage.on_host[bucket]; before != kNotYet) {
    const SimTime fetched = perform(stage, Stream::ToDevice, std::max(before, reduced), price.bring_sums);
    reduced = perform(stage, Stream::Reduce, std::max(fetched, reduced), price.accumulate);
  }
  copy_to_host(stage, bucket, reduced);
}

void Replay::copy_to_host(ReplayStage& stage, std::size_t bucket, SimTime after) {
  if (!offloads_) return;
  stage.on_host[bucket] = perform(stage, Stream::ToHost, after, sim::at(prices_.steps, stage.index).buckets[bucket].to_host);
}

void Replay::send(ReplayStage& stage, const StageAction& action) {
  const bool forward = action.kind == ActionKind::Forward;
  const std::int32_t virtual_stage = virtual_stage_of(stage, action), receiver = virtual_stage + (forward ? 1 : -1);
  if (!is_handed(stage, action, virtual_stage, forward ? 1 : -1)) return;
  if (is_local(stage, receiver)) {
    sent(action, receiver) = stage.computed;
    return;
  }
  const TransferPrices& prices = transfers(stage, action);
  const SimTime posted =
      perform(stage, Stream::Send, std::max(stage.computed, stage.host), forward ? prices.forward_post : prices.backward_post);
  sent(action, receiver) = posted;
}

// The last reduction ends when all that its links carried has passed.
void Replay::wait_for_links(ReplayStage& stage) {
  SimTime& reduced = free(stage, Stream::Reduce);
  if (reduces_) reduced = std::max({reduced, stage.load.port, stage.load.uplink});
}

void Replay::finish_gradients() {
  for (ReplayStage& stage : stages_) wait_for_links(stage);
  for (ReplayStage& stage : stages_)
    if (const auto sum = sim::at(prices_.steps, stage.index).replicated_sum)
      perform(stage, Stream::Reduce, std::max(stage.computed, stage.host), *sum);
  if (!plan_.ties_across_stages() || model_.layers.front().parameters.front().frozen || prices_.steps.front().buckets.empty()) return;
  ReplayStage *first = &stages_.front(), *copy = &stages_[plan_.reader_stage().position()];
  SimTime start{}, duration{};
  for (ReplayStage* stage : {first, copy}) {
    start = std::max({start, free(*stage, Stream::Reduce), stage->computed, stage->host});
    duration = std::max(duration, sim::at(prices_.steps, stage->index).buckets.back().embedding_sum);
  }
  for (ReplayStage* stage : {first, copy}) {
    perform(*stage, Stream::Reduce, start, duration);
    const BucketPrice& tied = sim::at(prices_.steps, stage->index).buckets.back();
    if (reduces_) perform(*stage, Stream::Reduce, SimTime{}, tied.reduce.time + tied.replica_sum.time);
  }
}

// Those that tensor ranks summed parts of, and tied embeddings.
void Replay::copy_rest_to_host() {
  for (ReplayStage& stage : stages_)
    for (std::size_t bucket = 0; offloads_ && bucket < stage.on_host.size(); ++bucket)
      if (stage.on_host[bucket] == kNotYet && !sim::at(prices_.steps, stage.index).buckets[bucket].frozen)
        copy_to_host(stage, bucket, std::max(stage.computed, free(stage, Stream::Reduce)));
}

// When its new weights are on the device.
SimTime Replay::update(ReplayStage& stage, std::size_t bucket, SimTime agreed) {
  const BucketPrice& price = sim::at(prices_.steps, stage.index).buckets[bucket];
  if (!offloads_) return compute(stage, agreed, price.update);
  const SimTime stepped = plan_.offload_share < 1 ? compute(stage, agreed, price.device_update) : agreed,
                updated = perform(stage, Stream::Host, std::max(agreed, stage.on_host[bucket]), price.update.time);
  return perform(stage, Stream::ToDevice, std::max(stepped, updated), price.to_device);
}

// Gathers beside the next forward are free here: from where ranks agree to where they do again, each steps its weights and computes.
SimTime Replay::step() {
  SimTime agreed{}, sum{}, least = SimTime::max();
  for (ReplayStage& stage : stages_) {
    const StageStepPrices& prices = sim::at(prices_.steps, stage.index);
    agreed = std::max({agreed, compute(stage, free(stage, Stream::Reduce), prices.norm_part), stage.host});
    sum = std::max(sum, prices.world_sum);
  }
  agreed += sum;
  for (ReplayStage& stage : stages_) {
    const std::vector<BucketPrice>& buckets = sim::at(prices_.steps, stage.index).buckets;
    SimTime updates{};
    for (std::size_t bucket = 0; bucket < buckets.size() && !plan_.optimizer_in_backward; ++bucket) {
      if (buckets[bucket].frozen) continue;
      const SimTime updated = update(stage, bucket, agreed), gather = buckets[bucket].weights_gather;
      if (gather.count() > 0) perform(stage, Stream::Gather, std::max(updated, stage.host), gather);
      updates += buckets[bucket].update.time;
    }
    least = std::min(least, updates);
  }
  if (plan_.overlap_weight_gather) return agreed + least;
  SimTime end{};
  for (const ReplayStage& stage : stages_) end = std::max(end, *std::max_element(stage.free.begin(), stage.free.end()));
  return end;
}

SimTime Replay::run() && {
  for (bool moved = true; moved;) {
    moved = false;
    for (ReplayStage& stage : stages_)
      while (advance(stage)) moved = true;
  }
  delayed_weights();
  finish_gradients();
  copy_rest_to_host();
  return step();
}

}  // namespace

SimTime replay(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const PlanPrices& prices, const StageOrders& orders) {
  return Replay(model, plan, prices, orders).run();
}

}  // namespace planner
