#include "tests/parity/training_result.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include "executor/training/checkpoint.h"
#include "executor/training/task_runner.h"
#include "sim/units/at.h"
#include "tests/parity/made_up_tokens.h"
#include "tests/parity/parity_job.h"

namespace parity {

// Where rows hold documents, about every fourth token ends one.
std::vector<std::int64_t> made_up_tokens(const sim::ParallelPlan& plan, std::size_t count) {
  const std::optional<std::int64_t> end = plan.workload.samples.end_token;
  std::vector<std::int64_t> tokens(count);
  for (std::uint64_t at = 0; at < count; ++at) {
    const bool ends = end && executor::random_bits(executor::random_key({12}), at) % 4 == 0;
    const std::uint64_t any = executor::random_bits(executor::random_key({11}), at) % static_cast<std::uint64_t>(plan.model.vocabulary);
    tokens[at] = ends ? *end : static_cast<std::int64_t>(any);
  }
  return tokens;
}

namespace {

using executor::FlatBucket;
using executor::ParameterStore;

enum class What { Weights, Gradients, FirstMoment, SecondMoment };

// Puts every parameter together: each element comes from the one rank that owns it, zeros from the others.
class Assembler {
 public:
  Assembler(const sim::ModelGraph& model, const sim::ParallelPlan& plan, executor::MeshCommunicators& communicators,
            ParameterStore& parameters)
      : model_(model), plan_(plan), communicators_(communicators), parameters_(parameters) {}

  Tensors assemble(What what) const {
    std::int64_t elements = 0;
    for (const sim::Layer& layer : model_.layers)
      for (const sim::Parameter& parameter : layer.parameters) elements += parameter.elements();
    const at::Tensor flat = at::zeros({elements}, at::kDouble);
    Tensors whole;
    std::int64_t begin = 0;
    for (const sim::Layer& layer : model_.layers)
      for (const sim::Parameter& parameter : layer.parameters) {
        whole[parameter.name] = flat.narrow(0, begin, parameter.elements());
        begin += parameter.elements();
      }
    for (FlatBucket& bucket : parameters_.buckets()) {
      if (bucket.is_packed() && what == What::Weights) put_packed(bucket, whole);
      for (const sim::BucketSlot& slot : bucket.layout().slots)
        if (!bucket.is_packed() && (!slot.frozen || what == What::Weights)) put(bucket, slot, what, whole);
    }
    communicators_.of(sim::MeshAxis::World).all_reduce(flat, executor::ReduceOperation::Sum, {})->wait();
    return whole;
  }

 private:
  bool owns(const sim::BucketSlot& slot, const sim::Parameter& parameter) const {
    const bool is_copy = plan_.mesh.pipeline > 1 && slot.layer == model_.head() && parameter.name.starts_with("embedding.");
    return !is_copy && (parameter.split != sim::TensorSplit::None || parameters_.tensor().rank == 0);
  }
  // As products read them, from the first of the ranks that have them.
  void put_packed(FlatBucket& bucket, const Tensors& whole) const {
    const bool was_whole = bucket.has_whole_weights();
    if (!was_whole) {
      bucket.take_weights();
      communicators_.of(sim::axis_of(bucket.layout())).all_gather(bucket.weights(), bucket.weight_shard(), {})->wait();
    }
    const bool is_first = plan_.mesh.coordinate(communicators_.rank()).data == 0;
    for (const sim::BucketSlot& slot : bucket.layout().slots) {
      const sim::Parameter& parameter = parameters_.parameter(slot);
      if (!is_first || !owns(slot, parameter)) continue;
      const executor::Leaf& leaf = sim::at(parameters_.leaves(slot.layer), slot.parameter);
      write(executor::numbers_of(leaf), {}, parameter, whole);
    }
    if (!was_whole) bucket.release_weights();
  }
  void write(const at::Tensor& values, executor::FirstElement from, const sim::Parameter& parameter, const Tensors& whole) const {
    const at::Tensor mine = values.cpu().to(at::kDouble).contiguous();
    double* const into = whole.at(parameter.name).data_ptr<double>();
    const executor::TensorPart place(parameter, parameters_.tensor());
    for (std::int64_t at = 0; at < mine.numel(); ++at) into[place.global_element(from.value + at)] = mine.data_ptr<double>()[at];
  }
  static at::Tensor values(const FlatBucket& bucket, executor::BucketRange range, What what) {
    switch (what) {
      case What::Weights: return bucket.weights_of(range);
      case What::Gradients: return bucket.final_gradients(range);
      case What::FirstMoment: return bucket.moment(0, range);
      default: return bucket.moment(bucket.num_moments() - 1, range);
    }
  }
  void put(FlatBucket& bucket, const sim::BucketSlot& slot, What what, Tensors& whole) const {
    const sim::Parameter& parameter = parameters_.parameter(slot);
    const auto part = ParameterStore::meet(slot, bucket.own_shard());
    const bool is_replica = plan_.mesh.coordinate(communicators_.rank()).data >= plan_.mesh.shards();
    if (part.range.count == 0 || is_replica || !owns(slot, parameter)) return;
    if (what == What::SecondMoment && !bucket.has_moment(bucket.num_moments() - 1, slot)) return;
    write(values(bucket, part.range, what), part.from, parameter, whole);
  }

  const sim::ModelGraph& model_;
  const sim::ParallelPlan& plan_;
  executor::MeshCommunicators& communicators_;
  ParameterStore& parameters_;
};

std::string norms_of(const Tensors& value, const Tensors& reference, const std::string& what, Tolerance tolerance) {
  for (const auto& [name, tensor] : value) {
    const double expected = reference.at(name).norm().item<double>(), error = (tensor - reference.at(name)).norm().item<double>();
    if (!(error <= tolerance.relative_l2 * expected))
      return fmt::format("{} of {} are {:.3e} off (norm {:.3e})", what, name, error, expected);
  }
  return {};
}

// Whole on each data rank: what this one has must be what the others have.
void add_running_statistics(Tensors& weights, const ParameterStore& parameters) {
  for (sim::LayerIndex layer{0}; layer.position() < parameters.num_layers(); ++layer) {
    const std::optional<ParameterStore::Running>& running = parameters.running(layer);
    if (!running) continue;
    weights["running_mean:" + running->scale->name] = running->statistics.mean.to(at::kDouble, /*non_blocking=*/false, /*copy=*/true);
    weights["running_variance:" + running->scale->name] =
        running->statistics.variance.to(at::kDouble, /*non_blocking=*/false, /*copy=*/true);
  }
}

}  // namespace

TrainingResult train(const TrainingRequest& request) {
  const executor::Planting planting(request.bug);
  const sim::ParallelPlan& plan = request.plan;
  const auto problems = sim::violations(plan);
  if (!problems.empty()) throw std::invalid_argument(problems.front().where + ": " + problems.front().problem);
  const sim::ModelGraph model = sim::make_model_graph(plan);
  executor::MeshCommunicators communicators(plan.mesh, request.ranks == Ranks::All ? session() : nullptr);
  ParameterStore parameters(model, plan, communicators.rank(), request.ranks == Ranks::All ? device() : c10::kCPU);
  const auto rank = static_cast<std::uint64_t>(communicators.rank().value());
  executor::FaultPoints faults = request.dawdle ? executor::FaultPoints::dawdling(executor::random_key({rank})) : executor::FaultPoints();
  executor::TaskRunner runner(model, plan, communicators, parameters, {.faults = &faults});
  executor::RunState state{.steps = {}, .loss_scale = runner.optimizer().loss_scale()};
  parameters.fill_initial_values();
  for (FlatBucket& bucket : parameters.buckets())
    for (const sim::BucketSlot& slot : bucket.layout().slots)
      if (const auto given = request.frozen.find(parameters.parameter(slot).name); slot.frozen && given != request.frozen.end())
        parameters.put_whole(bucket, slot, given->second);
  if (!request.load_from.empty()) {
    state = executor::Checkpoints(request.load_from, plan, communicators, faults).load(parameters);
    runner.gather_whole_state();
    runner.optimizer().set_loss_scale(state.loss_scale);
  }
  const MadeUpTokens tokens(plan, request.tokens);
  const Assembler assembler(model, plan, communicators, parameters);
  TrainingResult result;
  for (std::int64_t end = state.steps.value + request.steps; state.steps.value < end; ++state.steps.value) {
    const executor::StepSummary summary = runner.run_step(executor::load_batch(*tokens, plan, communicators.rank(), state.steps.value), {});
    result.losses.push_back(summary.loss);
    result.norms.push_back(summary.gradient_norm);
    result.skipped.push_back(summary.skipped);
    if (!request.assembles_gradients) continue;
    const bool has_all = !plan.sums_by_priority() && !plan.optimizer_in_backward;  // at once, by now
    result.gradients.push_back(has_all ? assembler.assemble(What::Gradients) : Tensors());
    for (auto& [name, values] : result.gradients.back()) values.div_(summary.loss_scale);
  }
  runner.settle();
  result.weights = assembler.assemble(What::Weights);
  add_running_statistics(result.weights, parameters);
  for (const auto& [name, values] : assembler.assemble(What::FirstMoment)) result.moments["1:" + name] = values;
  for (const auto& [name, values] : assembler.assemble(What::SecondMoment)) result.moments["2:" + name] = values;
  state.loss_scale = runner.optimizer().loss_scale();
  if (!request.save_to.empty()) executor::Checkpoints(request.save_to, plan, communicators, faults).save(parameters, state);
  return result;
}

std::string bitwise_difference(const Tensors& a, const Tensors& b, const std::string& what) {
  for (const auto& [name, tensor] : a)
    if (!at::equal(tensor, b.at(name)))
      return fmt::format("{} of {} differ in {} elements", what, name, tensor.ne(b.at(name)).sum().item<std::int64_t>());
  return {};
}

std::string bitwise_difference(const TrainingResult& a, const TrainingResult& b) {
  for (std::size_t step = 0; step < a.losses.size(); ++step) {
    const std::string when = fmt::format("step {}: ", step);
    if (a.losses[step] != b.losses[step]) return when + fmt::format("loss {:.17g} and {:.17g}", a.losses[step], b.losses[step]);
    const std::string gradients = bitwise_difference(a.gradients[step], b.gradients[step], "gradients");
    if (!gradients.empty()) return when + gradients;
    if (a.norms[step] != b.norms[step]) return when + fmt::format("gradient norm {:.17g} and {:.17g}", a.norms[step], b.norms[step]);
  }
  return bitwise_difference(a.weights, b.weights, "weights");
}

std::string difference(const TrainingResult& value, const TrainingResult& reference, Tolerance tolerance) {
  const auto differs = [&](double a, double b) { return !(std::abs(a - b) <= tolerance.relative_l2 * std::abs(b)); };
  for (std::size_t step = 0; step < value.losses.size(); ++step) {
    const std::string when = fmt::format("step {}: ", step);
    if (differs(value.losses[step], reference.losses[step]))
      return when + fmt::format("loss {:.17g} against {:.17g}", value.losses[step], reference.losses[step]);
    if (value.gradients[step].empty()) continue;  // nobody had all of them
    const std::string gradients = norms_of(value.gradients[step], reference.gradients[step], "gradients", tolerance);
    if (!gradients.empty()) return when + gradients;
    if (differs(value.norms[step], reference.norms[step]))
      return when + fmt::format("gradient norm {:.17g} against {:.17g}", value.norms[step], reference.norms[step]);
  }
  return norms_of(value.weights, reference.weights, "weights", tolerance);
}

namespace {

double farthest(const Tensors& value, const Tensors& reference) {
  double most = 0;
  for (const auto& [name, tensor] : value) {
    const double expected = reference.at(name).norm().item<double>();
    if (expected > 0) most = std::max(most, (tensor - reference.at(name)).norm().item<double>() / expected);
  }
  return most;
}

}  // namespace

Distance distance(const TrainingResult& value, const TrainingResult& reference) {
  Distance most{.weights = farthest(value.weights, reference.weights)};
  for (std::size_t step = 0; step < value.losses.size(); ++step) {
    most.loss = std::max(most.loss, std::abs(value.losses[step] / reference.losses[step] - 1));
    most.gradients = std::max(most.gradients, farthest(value.gradients[step], reference.gradients[step]));
  }
  return most;
}

}  // namespace parity
