#include "executor/training/optimizer.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "executor/kernels/exact_sum.h"
#include "executor/kernels/optimizer.h"
#include "sim/task_graph/task.h"

namespace executor {
namespace {

// Added to a sum's last limb by a rank that has something to say; the limb itself counts values that are not finite, fewer than this.
constexpr std::int64_t kWord = std::int64_t{1} << 40;
enum SumRow : std::int64_t { kWritten = 0, kStop = 1 };  // whose last limb: that of the norm, that of the loss

ExactSum to_sum(const at::Tensor& limbs, std::int64_t row) {
  ExactSum sum;
  const auto* values = limbs.data_ptr<std::int64_t>() + row * static_cast<std::int64_t>(ExactSum::kLimbs);
  std::copy_n(values, ExactSum::kLimbs, sum.limbs().begin());
  sum.limbs().back() %= kWord;
  return sum;
}

void put(at::Tensor& limbs, std::int64_t row, ExactSum sum) {
  sum.normalise();
  std::ranges::copy(sum.limbs(), limbs.data_ptr<std::int64_t>() + row * static_cast<std::int64_t>(ExactSum::kLimbs));
}

std::int64_t& last_limb(const at::Tensor& limbs, SumRow row) {
  return limbs.data_ptr<std::int64_t>()[(row + 1) * static_cast<std::int64_t>(ExactSum::kLimbs) - 1];
}

}  // namespace

double learning_rate(const sim::TrainingSettings& settings, StepNumber step) {
  const auto at = static_cast<double>(step.value), warm_up = static_cast<double>(settings.warmup_steps);
  if (step.value < settings.warmup_steps) return settings.learning_rate * (at + 1.0) / warm_up;
  if (settings.decay_steps == 0) return settings.learning_rate;
  const double span = std::max(1.0, static_cast<double>(settings.decay_steps) - warm_up);
  const double progress = std::min(1.0, (at - warm_up) / span);
  const double cosine = 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
  return settings.minimum_learning_rate + cosine * (settings.learning_rate - settings.minimum_learning_rate);
}

Optimizer::Optimizer(const sim::ParallelPlan& plan, sim::Rank rank, ParameterStore& parameters)
    : plan_(plan),
      place_(plan.mesh.coordinate(rank)),
      parameters_(parameters),
      loss_scale_(initial_loss_scale(plan)),
      limbs_(at::zeros({2, static_cast<std::int64_t>(ExactSum::kLimbs)}, at::kLong)) {
  static_assert(sim::kStepSummary.value() == 2 * 8 * static_cast<std::int64_t>(ExactSum::kLimbs));
}

// Of the copies of one element exactly one rank counts it: its data owner in the first replica, on tensor rank 0 if tensor ranks repeat it,
// on the first stage if tied.
bool Optimizer::counts(const sim::BucketSlot& slot, const sim::Parameter& parameter) const {
  const bool is_copy_of_embedding = plan_.mesh.pipeline > 1 && slot.layer != sim::LayerIndex(0) && parameter.name.starts_with("embedding.");
  const bool is_repeated = parameter.split == sim::TensorSplit::None && place_.tensor != 0;
  const bool is_replica = place_.data >= plan_.mesh.shards();
  return !is_copy_of_embedding && !is_repeated && !is_replica;
}

void Optimizer::sum_up(const std::vector<at::Tensor>& losses, Request request) {
  SquareSum squares;
  ExactSum loss;
  for (const FlatBucket& bucket : parameters_.buckets())
    for (const sim::BucketSlot& slot : bucket.layout().slots) {
      if (slot.frozen) continue;
      const auto part = ParameterStore::meet(slot, bucket.own_shard());
      if (part.range.count > 0 && counts(slot, parameters_.parameter(slot))) squares.add(bucket.final_gradients(part.range));
    }
  if (place_.tensor == 0)
    for (const at::Tensor& tokens : losses) loss.add_values(tokens);
  put(limbs_, 0, squares.total());
  put(limbs_, 1, loss);
  if (request.stop) last_limb(limbs_, kStop) += kWord;
  if (request.has_written) last_limb(limbs_, kWritten) += kWord;
}

StepSummary Optimizer::summary() const {
  const auto tokens = static_cast<double>(plan_.workload.global_batch * plan_.workload.sequence);
  const double norm = std::sqrt(to_sum(limbs_, 0).value()) / loss_scale_.scale;
  return {.loss = to_sum(limbs_, 1).value() / tokens,
          .gradient_norm = norm,
          .loss_scale = loss_scale_.scale,
          .skipped = plan_.workload.precision.compute() == sim::Precision::Fp16 && !std::isfinite(norm),
          .stop_requested = last_limb(limbs_, kStop) >= kWord,
          .saved = last_limb(limbs_, kWritten) / kWord == plan_.mesh.ranks()};
}

double Optimizer::gradient_factor() const {
  const double limit = plan_.training.gradient_clip, scale = loss_scale_.scale;
  const double norm = summary().gradient_norm;
  return (limit > 0 ? std::min(1.0, limit / (norm + 1e-6)) : 1.0) / scale;
}

void Optimizer::end_step() { loss_scale_ = next_loss_scale(loss_scale_, {.happened = summary().skipped}, plan_); }

void Optimizer::update(FlatBucket& bucket, StepNumber step) {
  if (summary().skipped) return;
  std::vector<DecayRange> ranges;
  const BucketRange stepped = bucket.stepped();
  for (const sim::BucketSlot& slot : bucket.layout().slots) {
    const auto part = ParameterStore::meet(slot, stepped);
    if (part.range.count == 0) continue;
    const bool decays = parameters_.parameter(slot).weight_decay;
    ranges.push_back({.begin = part.range.begin - stepped.begin,
                      .end = part.range.end() - stepped.begin,
                      .weight_decay = decays ? plan_.training.weight_decay : 0.0});
  }
  const sim::TrainingSettings& settings = plan_.training;
  const at::Tensor master = bucket.master(stepped), gradients = bucket.stepped_gradients();
  const at::Tensor rounded = bucket.rounded_weights();
  if (plan_.workload.optimizer == sim::OptimizerKind::Sgd) {
    step_sgd({.master = master, .gradient = gradients, .velocity = bucket.moment(0, stepped), .rounded = rounded}, ranges,
             {.learning_rate = learning_rate(settings, step), .momentum = settings.momentum, .gradient_factor = gradient_factor()});
    return;
  }
  step_adamw({.master = master,
              .gradient = gradients,
              .first_moment = bucket.moment(0, stepped),
              .second_moment = bucket.moment(1, stepped),
              .rounded = rounded},
             ranges,
             {.learning_rate = learning_rate(settings, step),
              .beta1 = settings.beta1,
              .beta2 = settings.beta2,
              .epsilon = settings.epsilon,
              .step = step.value + 1 - loss_scale_.skipped_steps,
              .gradient_factor = gradient_factor()});
}

}  // namespace executor
