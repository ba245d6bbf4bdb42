#include "planner/evaluator.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "planner/closing_time.h"
#include "planner/longest_step.h"
#include "planner/node_cores.h"
#include "planner/partition.h"
#include "planner/recomputation.h"
#include "sim/cost/task_prices.h"
#include "sim/cost/unit_memory.h"

namespace planner {
namespace {

// One microbatch through each layer, forward and backward (with what is computed again), on the first stage.
std::vector<sim::SimTime> times_of(const std::vector<StageLayerPrices>& layers, const sim::ModelGraph& model) {
  std::vector<sim::SimTime> times;
  for (sim::LayerIndex layer{0}; layer <= model.head(); ++layer) {
    const LayerPrice& price = price_of(layers.front(), model, layer);
    times.push_back(price.forward.time + price.recompute.time + price.backward.time + price.weight.time);
  }
  return times;
}

// Of work_words(), what says how often gradients are reduced.
std::int64_t accumulation_words(const PlanCandidate& candidate) { return static_cast<std::int64_t>(candidate.accumulation); }

// Weights that stay whole are cast to 8 bit once a step, those that are gathered for each microbatch.
bool casts_by_stage(const SearchRequest& request) {
  return request.cluster.software.cached_fp8_weights && request.workload.precision.scales().has_value();
}

// What changes the work of a microbatch within one shape, as a number.
std::int64_t work_words(const PlanCandidate& candidate, bool casts_by_stage) {
  std::int64_t words = scope_number(candidate.scope);
  const auto add = [&](std::size_t value, std::size_t values) {
    words = words * static_cast<std::int64_t>(values) + static_cast<std::int64_t>(value);
  };
  add(candidate.sequence_parallel ? 1 : 0, 2);
  add(static_cast<std::size_t>(candidate.recompute), std::size(sim::kRecomputeNames));
  add(candidate.offload_activations ? 1 : 0, 2);
  add(static_cast<std::size_t>(candidate.token_dispatcher), std::size(sim::kTokenDispatcherNames));
  add(candidate.expert_overlap ? 1 : 0, 2);
  add(casts_by_stage && candidate.zero_stage == 3 ? 1 : 0, 2);
  add(static_cast<std::size_t>(accumulation_words(candidate)), 2);
  return words;
}

std::int64_t bare_words(PlanCandidate candidate, bool casts_by_stage) {
  candidate.recompute = sim::Recompute::None;
  candidate.scope = {};
  return work_words(candidate, casts_by_stage);
}

}  // namespace

sim::Bytes memory_limit(const SearchRequest& request) { return request.memory_limit.value_or(sim::usable_memory(request.cluster)); }

Evaluator::Evaluator(const SearchRequest& request, const sim::ModelGraph& model, LayerBook* book)
    : request_(request),
      model_(model),
      own_book_(book == nullptr ? std::make_unique<LayerBook>() : nullptr),
      book_(book == nullptr ? *own_book_ : *book) {
  plan_ = make_plan(request, {});
  may_cross_ = may_cross();
  casts_by_stage_ = casts_by_stage(request);
  if (request.cluster.hardware.cores_per_node > 0) core_share_ = sim::TaskPrices(model, plan_).core_share();
}

// Which stage of ZeRO, and whether there is a pipeline, is what words of steps that cross belong to.
bool Evaluator::may_cross() const {
  if (!request_.habits) return false;
  for (const std::int32_t zero_stage : {0, 1, 2, 3})
    for (std::int32_t stages = 1; stages <= std::min<std::int64_t>(2, plan_.model.layers); ++stages) {
      sim::ParallelPlan plan = plan_;
      plan.zero_stage = zero_stage;
      plan.mesh = {.data = 2, .pipeline = stages};
      request_.habits(plan);
      if (plan.crosses_norm()) return true;
    }
  return false;
}

void Evaluator::begin_mesh(const sim::DeviceMesh& mesh) {
  if (plan_.mesh == mesh) return;
  plan_.mesh = mesh;
  least_work_.clear();
  traffic_.clear();
  bare_devices_.reset();
  lies_.clear();
  forget();
}

void Evaluator::forget() {
  works_.clear();
  work_ = nullptr;
  activations_.clear();
  transfers_.clear();
  cuts_.clear();
  cut_numbers_.clear();
  shape_.reset();
  end_weights_.clear();
  devices_.clear();
  weights_.clear();
  steps_.clear();
  walked_.clear();
  forget_orders();
}

void Evaluator::take_words(const PlanCandidate& candidate) {
  plan_.mesh.reshard = 1;
  begin_mesh(candidate.mesh);
  put_into(candidate, plan_);
  work_words_ = work_words(candidate, casts_by_stage_);
  activation_words_ = work_words_ - accumulation_words(candidate);
  bare_words_ = bare_words(candidate, casts_by_stage_);
  if (request_.habits) request_.habits(plan_);
  work_ = nullptr;
}

void Evaluator::turn_to(const PlanCandidate& candidate) {
  take_words(candidate);
  const WorkKey key = work_key();
  const auto [cut, is_new] = cuts_.try_emplace({key, plan_.chunks});
  if (is_new) {
    const HeadPlace head = plan_.model.predicts_apart() ? HeadPlace::MayStandAlone : HeadPlace::BehindALayer;
    plan_.cut = optimal_cut(work().layer_times, plan_.pipeline_shape(), head);
    if (request_.habits) request_.habits(plan_);  // of a program that deals blocks by a rule of its own
    work_ = nullptr;
    cut->second.cut = plan_.cut;
    cut->second.number = cut_numbers_.try_emplace(cut->second.cut.first, static_cast<std::int32_t>(cut_numbers_.size())).first->second;
  }
  plan_.cut = cut->second.cut;
  cut_number_ = cut->second.number;
}

const sim::TaskGraph& Evaluator::bare_devices() {
  if (!bare_devices_) bare_devices_ = devices_without_buckets(plan_);
  return *bare_devices_;
}

const std::vector<Pricer::Lie>& Evaluator::lies() {
  if (!lies_.empty()) return lies_;
  const Pricer pricer(model_, plan_, bare_devices());
  for (sim::StageIndex stage{0}; stage.value() < plan_.mesh.pipeline; ++stage) lies_.push_back(pricer.lie(stage));
  return lies_;
}

const std::vector<StageTransfers>& Evaluator::transfers() {
  const auto [entry, is_new] =
      transfers_.try_emplace({plan_.microbatch_size, plan_.sequence_parallel, plan_.context_algorithm, plan_.splits_backward()});
  if (is_new) entry->second = Pricer(model_, plan_, bare_devices()).transfers();
  return entry->second;
}

const Evaluator::Work& Evaluator::work() {
  if (work_ != nullptr) return *work_;
  const auto [entry, is_new] = works_.try_emplace(work_key());
  work_ = &entry->second;
  if (!is_new) return *work_;
  plan_.cut = sim::even_cut(plan_.model.inner_layers(), plan_.pipeline_shape());  // whichever: no price depends on it
  Work& work = entry->second;
  std::optional<Pricer> pricer;
  const Pricer::Lie* before = nullptr;
  for (const Pricer::Lie& lie : lies()) {
    if (before != nullptr && *before == lie) {  // as of most stages
      work.layers.push_back(work.layers.back());
      continue;
    }
    before = &lie;
    const LayerBook::Key key = LayerBook::key(plan_, work_words_, lie);
    std::optional<StageLayerPrices> known = book_.find(key);
    if (!known) {
      if (!pricer) pricer.emplace(model_, plan_, bare_devices());
      known = priced(sim::StageIndex(static_cast<std::int32_t>(work.layers.size())), *pricer, lie);
      book_.add(key, *known);
    }
    work.layers.push_back(*std::move(known));
    work.most = std::max(work.most, most(model_, work.layers.back()));
  }
  work.layer_times = times_of(work.layers, model_);
  return work;
}

StageLayerPrices Evaluator::priced(sim::StageIndex stage, const Pricer& pricer, const Pricer::Lie& lie) const {
  if (bare_words_ == work_words_) return pricer.layers(stage);
  const std::optional<StageLayerPrices> bare = book_.find(LayerBook::key(plan_, bare_words_, lie));
  return bare ? pricer.layers(stage, *bare) : pricer.layers(stage);
}

const ActivationMemory& Evaluator::activations() {
  const bool by_units = sim::follows_units(plan_);
  const auto [entry, is_new] = activations_.try_emplace(
      {plan_.microbatch_size, activation_words_, plan_.splits_backward() && !weights_in_turn(plan_), plan_.context_algorithm, by_units});
  if (!is_new) return entry->second;
  const std::int32_t zero_stage = std::exchange(plan_.zero_stage, by_units ? plan_.zero_stage : 0);  // spares a copy of the plan
  const bool on_host = std::exchange(plan_.offload_parameters, false);
  entry->second = activation_memory(model_, plan_);
  plan_.zero_stage = zero_stage;
  plan_.offload_parameters = on_host;
  return entry->second;
}

// What is computed again comes on top.
std::vector<PlanCandidate> Evaluator::least_words(const SearchRequest& request, std::span<const PlanCandidate> words) {
  const bool by_stage = casts_by_stage(request);
  std::set<std::int64_t> asked;
  std::vector<PlanCandidate> least;
  for (PlanCandidate candidate : words) {
    candidate.recompute = sim::Recompute::None;
    candidate.scope = {};
    candidate.offload_activations = false;
    if (asked.insert(work_words(candidate, by_stage)).second) least.push_back(candidate);
  }
  return least;
}

StepTime Evaluator::least_time(std::span<const PlanCandidate> shape) {
  std::optional<LeastWork> least;
  for (const PlanCandidate& candidate : least_words(request_, shape)) {
    take_words(candidate);
    const auto [known, is_unknown] = least_work_.try_emplace(work_key());
    if (is_unknown) known->second = least_work(model_, work().layers);
    least = least ? planner::least(*least, known->second) : known->second;
  }
  const Pipelined pipeline{.microbatches = plan_.num_pieces(),
                           .stages = plan_.mesh.pipeline,
                           .one_chunk = plan_.chunks == 1,
                           .splits_backward = plan_.splits_backward(),
                           .crosses_norm = may_cross_};
  const double computing = picoseconds(least->computing) * static_cast<double>(pipeline.microbatches);
  return {.step = planner::least_time(*least, pipeline),
          .computing = is_too_long(computing) ? sim::SimTime{} : least->computing * pipeline.microbatches / pipeline.stages};
}

// Scores that are kept wait, too: fewer weight gradients are put off then.
const std::vector<sim::StageAction>& Evaluator::first_order() {
  const auto [order, is_new] = first_orders_.try_emplace(plan_.percent_waiting());
  if (is_new) order->second = plan_.order(sim::StageIndex(0));
  return order->second;
}

// Of all ZeRO stages: by units, where the program's parameters are sharded so, activations are others.
sim::Bytes Evaluator::least_working() {
  const std::int32_t zero_stage = plan_.zero_stage;
  const auto of_stage = [&](std::int32_t stage) {
    plan_.zero_stage = stage;
    return first_working_memory(model_, plan_, activations(), first_order());
  };
  sim::Bytes least = of_stage(0);
  if (sim::habits_of(plan_.cluster).unit_buffers) least = std::min(least, of_stage(3));
  plan_.zero_stage = zero_stage;
  return least;
}

// What follows is not of it: ranks agree, and step their weights.
sim::SimTime Evaluator::node_time() {
  if (core_share_ == 0 || plan_.crosses_norm()) return {};
  return cores_time(plan_, core_share_, sketch_stages(model_, plan_, work().layers, transfers(), paired()));
}

// The first and the last microbatch pass all stages while the others wait.
bool Evaluator::has_room(double beside) { return !is_too_long((work().most + beside) * static_cast<double>(plan_.num_pieces() + 2)); }

StepTime Evaluator::first_step() {
  if (!has_room())
    return {.step = clamped(picoseconds(least_work(model_, work().layers).all) * static_cast<double>(plan_.num_pieces()) /
                            plan_.mesh.pipeline)};
  return {.step = may_cross_ ? busiest_time(model_, plan_, work().layers)
                             : std::max(sketch_time(model_, plan_, work().layers, transfers(), paired()), node_time()),
          .computing = counts_computing(request_.objective) ? computing_time(model_, plan_, work().layers) : sim::SimTime{}};
}

sim::SimTime Evaluator::walked_time() {
  const auto [known, is_new] = walked_.try_emplace({work_key(), order_key(), plan_.overlap_weight_gather});
  if (is_new) known->second = replay_of_microbatches(model_, plan_, work().layers, transfers(), orders());
  return known->second;
}

sim::SimTime Evaluator::closed_time() {
  if (plan_.crosses_norm()) return {};
  const PlanPrices prices{work().layers, transfers(), steps().stages};
  return std::max(walked_time(), gathering_time(model_, plan_, prices, orders())) + closing_time(plan_, steps().stages);
}

Evaluator::FirstBounds& Evaluator::first_bounds(const PlanCandidate& candidate) {
  const bool is_known_shape = shape_ && same_shape(*shape_, candidate);
  const std::int64_t words = work_words(candidate, casts_by_stage_);
  if (const auto known = first_bounds_.find(words); is_known_shape && known != first_bounds_.end()) return known->second;
  turn_to(candidate);
  if (!is_known_shape) {
    shape_ = candidate;
    first_bounds_.clear();
    first_orders_.clear();
  }
  const FirstBounds made{.time = first_step(),
                         .step_data = end_step_data(plan_),
                         .last_stage = plan_.site(plan_.num_virtual_stages() - 1).stage.value(),
                         .cut_number = cut_number_,
                         .reduces_each = sim::reduces_each(plan_)};
  return first_bounds_.emplace(words, made).first->second;
}

sim::Bytes Evaluator::working(const PlanCandidate& candidate, FirstBounds& bounds) {
  if (bounds.working) return *bounds.working;
  turn_to(candidate);
  bounds.working = least_working();
  return *bounds.working;
}

const EndStages& Evaluator::end_weights(const PlanCandidate& candidate, const FirstBounds& bounds) {
  const auto [entry, is_new] = end_weights_.try_emplace({candidate.chunks,
                                                         bounds.last_stage,
                                                         bounds.cut_number,
                                                         candidate.zero_stage,
                                                         {candidate.offload_optimizer, candidate.offload_parameters},
                                                         bounds.reduces_each});
  if (!is_new) return entry->second;
  turn_to(candidate);
  return entry->second = planner::end_weights(model_, plan_);
}

const sim::TaskGraph& Evaluator::devices() {
  const auto [entry, is_new] = devices_.try_emplace(cut_key());
  if (is_new) entry->second = devices_of(model_, plan_);
  return entry->second;
}

const std::vector<StageWeights>& Evaluator::weights() {
  const auto [entry, is_new] = weights_.try_emplace({cut_key(), plan_.zero_stage, on_host(), sim::reduces_each(plan_)});
  if (is_new) entry->second = stage_weights(model_, plan_, devices().buckets());
  return entry->second;
}

const Evaluator::Steps& Evaluator::steps() {
  const auto [entry, is_new] = steps_.try_emplace({cut_key(), plan_.zero_stage, plan_.sequence_parallel, on_host(), plan_.mesh.reshard});
  if (!is_new) return entry->second;
  Steps& steps = entry->second;
  steps.stages = Pricer(model_, plan_, devices()).steps();
  steps.most = most(steps.stages);
  return steps;
}

const StageOrders& Evaluator::orders() {
  const OrderKey key = order_key();
  if (orders_of_ == key) return orders_;
  orders_of_ = key;
  orders_ = stage_orders(plan_);
  paired_.clear();
  return orders_;
}

const std::vector<PairedActions>& Evaluator::paired() {
  static const std::vector<PairedActions> kNone;
  if (!plan_.expert_overlap) return kNone;
  const StageOrders& orders = this->orders();
  if (paired_.empty()) paired_ = paired_actions(plan_, orders);
  return paired_;
}

void Evaluator::forget_orders() {
  orders_of_ = {};
  orders_ = {};
  paired_ = {};
}

sim::ParallelPlan Evaluator::plan(const PlanCandidate& candidate) {
  turn_to(candidate);
  return plan_;
}

MemoryBound Evaluator::memory(const PlanCandidate& candidate) {
  turn_to(candidate);
  return memory_bound(model_, plan_, activations(), weights(), orders());
}

StepTime Evaluator::first_time(const PlanCandidate& candidate) { return first_bounds(candidate).time; }

// What the step computes behind its microbatches is known by then.
StepTime Evaluator::judged_time(const Judgement& judged, const PlanCandidate& candidate) {
  if (!counts_computing(request_.objective)) return {.step = judged.time};
  StepTime time = with_computing(judged.time, candidate);
  turn_to(candidate);
  if (plan_.offload_optimizer) return time;
  sim::SimTime updates{};
  for (const StageStepPrices& stage : steps().stages) {
    updates += stage.norm_part.time;
    for (const BucketPrice& bucket : stage.buckets) updates += bucket.update.time;
  }
  time.computing += updates / plan_.mesh.pipeline;
  return time;
}

StepTime Evaluator::with_computing(sim::SimTime step, const PlanCandidate& candidate) {
  return {.step = step, .computing = counts_computing(request_.objective) ? first_time(candidate).computing : sim::SimTime{}};
}

Judgement Evaluator::sketch(const PlanCandidate& candidate) {
  FirstBounds& bounds = first_bounds(candidate);
  const sim::Bytes least = working(candidate, bounds);
  const sim::Bytes memory = sketch_memory(end_weights(candidate, bounds), bounds.step_data, least);
  return {.verdict = memory > memory_limit(request_) ? Verdict::TooLarge : Verdict::Open,
          .is_sketch = true,
          .memory = memory,
          .time = bounds.time.step};
}

StepTime Evaluator::traffic_time(const PlanCandidate& candidate) {
  if (traffic_.empty()) return {};
  take_words(candidate);  // of another mesh nothing is known then
  const auto known = traffic_.find(traffic_key(candidate));
  if (known == traffic_.end()) return {};
  return with_computing(planner::least_time(known->second, plan_), candidate);
}

Judgement Evaluator::judge(const PlanCandidate& candidate, const Matters& matters) {
  turn_to(candidate);
  if (!sim::violations(plan_).empty()) return {.verdict = Verdict::Illegal};
  if (request_.why_not && !request_.why_not(plan_).empty()) return {.verdict = Verdict::NotRunnable};
  const bool is_on_clock = has_room(plan_.crosses_norm() ? 0 : most(transfers()) + steps().most);
  Judgement judgement;
  const auto is_beaten = [&] {
    if (matters && !matters(judgement)) judgement.verdict = Verdict::Beaten;
    return judgement.verdict == Verdict::Beaten;
  };
  if (matters && is_on_clock) judgement.time = closed_time();
  if (is_beaten()) return judgement;
  judgement.memory = memory_bound(model_, plan_, activations(), weights(), orders()).peak;
  if (judgement.memory > memory_limit(request_)) {
    judgement.verdict = Verdict::TooLarge;
    return judgement;
  }
  if (is_beaten()) return judgement;
  if (!is_on_clock) {
    judgement.time = first_step().step;
    return judgement;
  }
  judgement.time = plan_.crosses_norm() ? busiest_time(model_, plan_, work().layers)
                                        : replay(model_, plan_, {work().layers, transfers(), steps().stages}, orders());
  const bool updates_stand_alone = core_share_ > 0 && !plan_.crosses_steps() && !plan_.optimizer_in_backward;
  const sim::SimTime updates = updates_stand_alone ? cores_time_of_updates(plan_, core_share_, steps().stages) : sim::SimTime{};
  judgement.time = std::max(judgement.time, node_time() + updates);
  if (const auto [traffic, is_new] = traffic_.try_emplace(traffic_key(candidate)); is_new && !plan_.crosses_norm())
    traffic->second = traffic_of(plan_, devices(), steps().stages);
  return judgement;
}

}  // namespace planner
