#include "executor/training/optimizer.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "executor/kernels/exact_sum.h"
#include "executor/kernels/kept_moments.h"
#include "executor/kernels/muon.h"
#include "executor/kernels/on_device.h"
#include "sim/task_graph/task.h"

namespace executor {
namespace {

// Added to a sum's last limb by a rank that has something to say.
constexpr std::int64_t kWord = kNotFiniteCounts;
enum SumRow : std::int64_t { kWritten = 0, kStop = 1 };  // whose last limb: that of the norm, that of the loss

ExactSum to_sum(const at::Tensor& limbs, std::int64_t row) {
  ExactSum sum;
  const auto* values = limbs.data_ptr<std::int64_t>() + row * static_cast<std::int64_t>(ExactSum::kLimbs);
  std::copy_n(values, ExactSum::kLimbs, sum.limbs().begin());
  return sum;
}

void put(at::Tensor& limbs, std::int64_t row, ExactSum sum) {
  sum.normalise();
  std::ranges::copy(sum.limbs(), limbs.data_ptr<std::int64_t>() + row * static_cast<std::int64_t>(ExactSum::kLimbs));
}

void add_word(const at::Tensor& limbs, SumRow row) { limbs.select(0, row).select(0, kNotFiniteLimb).add_(kWord); }
std::int64_t words(const at::Tensor& limbs, SumRow row) {
  return limbs.data_ptr<std::int64_t>()[(row + 1) * static_cast<std::int64_t>(ExactSum::kLimbs) - 1] / kWord;
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
      limbs_(at::zeros({2, static_cast<std::int64_t>(ExactSum::kLimbs)}, at::TensorOptions().dtype(at::kLong).device(parameters.device()))),
      tokens_(plan.workload.global_batch * sim::tokens_in(sim::Tokens::Target, plan.model, plan.workload.sequence)) {
  if (!limbs_.is_cpu()) factor_ = at::ones({1}, limbs_.options().dtype(at::kDouble));
  static_assert(sim::kStepSummary.value() == 2 * 8 * static_cast<std::int64_t>(ExactSum::kLimbs));
}

// Of the copies of one element exactly one rank counts it: its data owner in the first replica, on tensor rank 0 if those that cut it repeat it,
// on the first stage if tied.
bool Optimizer::counts(const sim::BucketSlot& slot, const sim::Parameter& parameter) const {
  const bool is_copy_of_embedding = plan_.mesh.pipeline > 1 && slot.layer != sim::LayerIndex(0) && parameter.name.starts_with("embedding.");
  const bool is_repeated = parameter.split == sim::TensorSplit::None && parameters_.tensor().cut_of(parameter).part != 0;
  const bool is_replica = place_.data >= plan_.mesh.shards();
  return !is_copy_of_embedding && !is_repeated && !is_replica;
}

// Neighbours are one piece where no block of squares spans both: the same sums, told at once.
std::vector<at::Tensor> Optimizer::counted_gradients() const {
  std::vector<at::Tensor> pieces;
  for (const FlatBucket& bucket : parameters_.buckets()) {
    BucketRange piece;
    const auto end_piece = [&] {
      if (piece.count > 0) pieces.push_back(bucket.final_gradients(piece));
      piece = {};
    };
    for (const sim::BucketSlot& slot : bucket.layout().slots) {
      const BucketRange part = ParameterStore::meet(slot, bucket.own_shard()).range;
      if (slot.frozen || part.count == 0 || !counts(slot, parameters_.parameter(slot))) continue;
      if (part.begin != piece.end() || piece.count % ExactSum::kBlock != 0) end_piece();
      piece = {.begin = piece.count > 0 ? piece.begin : part.begin, .count = piece.count + part.count};
    }
    end_piece();
  }
  return pieces;
}

void Optimizer::sum_up(const std::vector<at::Tensor>& losses, Request request) {
  const bool has_all = !plan_.sums_by_priority() && !plan_.optimizer_in_backward;  // at once
  const std::vector<at::Tensor> gradients = has_all ? counted_gradients() : std::vector<at::Tensor>(),
                                counted = place_.tensor == 0 ? losses : std::vector<at::Tensor>();
  if (limbs_.is_cpu()) {
    ExactSum squares, loss;
    for (const at::Tensor& piece : gradients) squares.add_squares(piece);
    for (const at::Tensor& tokens : counted) loss.add_values(tokens);
    put(limbs_, 0, squares);
    put(limbs_, 1, loss);
  } else {
    limbs_.zero_();
    on_device::add_squares(limbs_.select(0, 0), gradients);
    if (!counted.empty()) on_device::add_values(limbs_.select(0, 1), at::cat(counted));
    for (std::int64_t row = 0; row < limbs_.size(0); ++row) on_device::normalise(limbs_.select(0, row));
  }
  is_decided_ = false;
  if (request.stop) add_word(limbs_, kStop);
  if (request.has_written) add_word(limbs_, kWritten);
}

StepSummary Optimizer::summary() const {
  const at::Tensor limbs = limbs_.cpu();
  const double norm = norm_of(to_sum(limbs, 0).value(), limit());
  return {.loss = to_sum(limbs, 1).value() / static_cast<double>(tokens_),
          .gradient_norm = norm,
          .loss_scale = loss_scale_.scale,
          .skipped = limit().skips && !std::isfinite(norm),
          .stop_requested = words(limbs, kStop) > 0,
          .saved = words(limbs, kWritten) == plan_.mesh.ranks()};
}

GradientLimit Optimizer::limit() const {
  return {.clip = plan_.training.gradient_clip,
          .loss_scale = loss_scale_.scale,
          .skips = plan_.workload.precision.compute() == sim::Precision::Fp16};
}

double Optimizer::gradient_factor() const {
  const double norm = summary().gradient_norm;
  return executor::gradient_factor(norm, limit());
}

const at::Tensor& Optimizer::factor_there() {
  if (!std::exchange(is_decided_, true)) on_device::gradient_factor(factor_, limbs_.select(0, 0), limit());
  return factor_;
}

StepSummary Optimizer::end_step() {
  const StepSummary ended = summary();
  loss_scale_ = next_loss_scale(loss_scale_, {.happened = ended.skipped}, plan_);
  return ended;
}

void Optimizer::update(FlatBucket& bucket, StepNumber step) {
  if (bucket.stepped().count == 0) return;  // others own all of it
  const at::Tensor master = bucket.master(bucket.stepped()), gradients = bucket.stepped_gradients();
  const at::Tensor there = master.is_cpu() ? at::Tensor() : factor_there();
  const double factor = master.is_cpu() ? gradient_factor() : 1;
  if (factor == kNothingIsStepped) return;
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
  const at::Tensor rounded = bucket.rounded_weights();
  if (plan_.workload.optimizer == sim::OptimizerKind::Sgd) {
    step_sgd(
        {.master = master, .gradient = gradients, .velocity = bucket.moment(0, stepped), .rounded = rounded}, ranges,
        {.learning_rate = learning_rate(settings, step), .momentum = settings.momentum, .gradient_factor = factor, .factor_there = there});
    return;
  }
  const AdamWSettings adamw = adamw_settings(step, factor, there);
  if (plan_.workload.optimizer == sim::OptimizerKind::Muon) return update_matrices(bucket, {gradients, rounded}, adamw);
  static_assert(kMomentBlock == sim::kMomentBlock);
  const auto codes = [&](std::int64_t moment, const ByteTable& table) {
    const at::Tensor scales = bucket.moment_scales(moment, stepped);
    return scales.defined() ? MomentCodes{.scales = scales, .table = &table} : MomentCodes();
  };
  step_adamw({.master = master,
              .gradient = gradients,
              .first_moment = bucket.moment(0, stepped),
              .second_moment = bucket.moment(1, stepped),
              .rounded = rounded,
              .first_codes = codes(0, signed_tree()),
              .second_codes = codes(1, unsigned_tree())},
             ranges, adamw);
}

AdamWSettings Optimizer::adamw_settings(StepNumber step, double factor, const at::Tensor& there) const {
  const sim::TrainingSettings& settings = plan_.training;
  return {.learning_rate = learning_rate(settings, step),
          .beta1 = settings.beta1,
          .beta2 = settings.beta2,
          .epsilon = settings.epsilon,
          .step = step.value + 1 - loss_scale_.skipped_steps,
          .gradient_factor = factor,
          .factor_there = there};
}

// Tensor by tensor: matrices of blocks by Muon, each expert's by itself; the rest as `adamw` says. Whoever steps a matrix has the whole of what a tensor rank
// has of it, which is made orthogonal by itself.
void Optimizer::update_matrices(const FlatBucket& bucket, const Stepped& all, const AdamWSettings& adamw) const {
  const BucketRange stepped = bucket.stepped();
  for (const sim::BucketSlot& slot : bucket.layout().slots) {
    const BucketRange range = ParameterStore::meet(slot, stepped).range;
    if (range.count == 0) continue;
    const auto part = [&](const at::Tensor& of_stepped) {
      return of_stepped.defined() ? of_stepped.narrow(0, range.begin - stepped.begin, range.count) : at::Tensor();
    };
    const sim::Parameter& parameter = parameters_.parameter(slot);
    const double decay = parameter.weight_decay ? plan_.training.weight_decay : 0.0;
    if (!slot.is_matrix_of_block) {
      const DecayRange whole{.begin = 0, .end = range.count, .weight_decay = decay};
      step_adamw({.master = bucket.master(range),
                  .gradient = part(all.gradients),
                  .first_moment = bucket.moment(0, range),
                  .second_moment = bucket.moment(1, range),
                  .rounded = part(all.rounded)},
                 {&whole, 1}, adamw);
      continue;
    }
    const std::int64_t matrices = parameter.expert ? plan_.model.experts->experts / plan_.mesh.expert : 1;
    const auto matrix = [&](const at::Tensor& flat, std::int64_t at) {
      return flat.defined() ? flat.view({matrices, -1, slot.columns}).select(0, at) : at::Tensor();
    };
    for (std::int64_t at = 0; at < matrices; ++at)
      step_muon({.master = matrix(bucket.master(range), at),
                 .gradient = matrix(part(all.gradients), at),
                 .momentum = matrix(bucket.moment(0, range), at),
                 .rounded = matrix(part(all.rounded), at)},
                {.learning_rate = adamw.learning_rate,
                 .momentum = plan_.training.momentum,
                 .weight_decay = decay,
                 .gradient_factor = adamw.gradient_factor,
                 .factor_there = adamw.factor_there,
                 .may_skip = limit().skips && adamw.factor_there.defined()});
  }
}

}  // namespace executor
