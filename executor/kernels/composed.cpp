#include "executor/kernels/composed.h"

#include <ATen/OpMathType.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <limits>
#include <utility>

#include "executor/kernels/before_step.h"
#include "executor/kernels/exact_limbs.h"
#include "executor/kernels/exact_sum.h"
#include "executor/kernels/square_sums.h"

namespace executor::composed {
namespace {

// Columns of the targets here, cut to what gather may be asked for, and where they are real.
struct TargetColumns {
  at::Tensor column, is_here;  // [tokens, 1]
};
TargetColumns target_columns(const CrossEntropyTargets& at, const VocabularyShard& shard) {
  const at::Tensor column = at.targets.sub(shard.first);
  return {.column = column.clamp(0, at.logits.size(1) - 1).unsqueeze(1),
          .is_here = column.ge(0).logical_and_(column.lt(shard.real)).unsqueeze(1)};
}

// exp(logit - maximum) of the real columns, in the type of the statistics.
at::Tensor shifted_exponentials(const CrossEntropyTargets& at, const VocabularyShard& shard) {
  return at.logits.narrow(1, 0, shard.real).to(at.maximum.scalar_type()).sub(at.maximum.unsqueeze(1)).exp_();
}

at::Tensor part(const at::Tensor& flat, const DecayRange& range) { return flat.narrow(0, range.begin, range.end - range.begin); }

// As it is computed with: 16-bit numbers in fp32.
at::Tensor wide_part(const at::Tensor& flat, const DecayRange& range) { return part(flat, range).to(at::toOpMathType(flat.scalar_type())); }
void put_back(const at::Tensor& flat, const DecayRange& range, const at::Tensor& wide) {
  if (wide.scalar_type() != flat.scalar_type()) part(flat, range).copy_(wide);
}

at::Tensor scaled_gradient(const at::Tensor& gradient, const at::Tensor& master, const DecayRange& range, const auto& settings) {
  const at::Tensor wide = part(gradient, range).to(at::toOpMathType(master.scalar_type()));
  return settings.factor_there.defined() ? wide.mul(settings.factor_there.to(wide.scalar_type())) : wide.mul(settings.gradient_factor);
}

void round_into(const at::Tensor& rounded, const at::Tensor& master, const DecayRange& range) {
  if (rounded.defined()) part(rounded, range).copy_(part(master, range));
}

}  // namespace

void local_maximum(const at::Tensor& maximum, const at::Tensor& logits, const VocabularyShard& shard) {
  if (shard.real == 0)
    maximum.fill_(-std::numeric_limits<double>::infinity());
  else
    maximum.copy_(logits.narrow(1, 0, shard.real).amax(1));
}

void local_exponentials(const at::Tensor& sums, const CrossEntropyTargets& at, const VocabularyShard& shard) {
  sums.select(0, 0).copy_(shifted_exponentials(at, shard).sum(1));
  const auto [column, is_here] = target_columns(at, shard);
  const at::Tensor shifted = at.logits.gather(1, column).to(sums.scalar_type()).squeeze(1).sub_(at.maximum);
  sums.select(0, 1).copy_(at::where(is_here.squeeze(1), shifted, at::zeros({}, sums.options())));
}

at::Tensor token_losses(const at::Tensor& sums) { return sums.select(0, 0).log().sub_(sums.select(0, 1)); }

void loss_gradient_in_place(const CrossEntropyTargets& at, const at::Tensor& sums, const VocabularyShard& shard, const LossFactor& factor) {
  const at::Tensor gradient = at::zeros(at.logits.sizes(), sums.options());
  if (shard.real > 0) gradient.narrow(1, 0, shard.real).copy_(shifted_exponentials(at, shard).div_(sums.select(0, 0).unsqueeze(1)));
  const auto [column, is_here] = target_columns(at, shard);
  gradient.scatter_add_(1, column, is_here.to(sums.scalar_type()).neg_());
  at.logits.copy_(factor.there.defined() ? gradient.mul_(factor.there) : gradient.mul_(factor.value));
}

void step_adamw(const AdamWShard& shard, const DecayRange& range, const AdamWSettings& settings) {
  const auto step = static_cast<double>(settings.step);
  const double correction1 = 1.0 - std::pow(settings.beta1, step), correction2 = 1.0 - std::pow(settings.beta2, step);
  const at::Tensor master = wide_part(shard.master, range), first = wide_part(shard.first_moment, range),
                   second = wide_part(shard.second_moment, range);
  const at::Tensor gradient = scaled_gradient(shard.gradient, shard.master, range, settings);
  const BeforeStep before(settings.factor_there,
                          {part(shard.master, range), part(shard.first_moment, range), part(shard.second_moment, range)});
  first.mul_(settings.beta1).add_(gradient, 1.0 - settings.beta1);
  second.mul_(settings.beta2).addcmul_(gradient, gradient, 1.0 - settings.beta2);
  const at::Tensor root = second.sqrt().mul_(1.0 / std::sqrt(correction2)).add_(settings.epsilon);
  master.mul_(1.0 - settings.learning_rate * range.weight_decay).addcdiv_(first, root, -settings.learning_rate / correction1);
  put_back(shard.master, range, master);
  put_back(shard.first_moment, range, first);
  put_back(shard.second_moment, range, second);
  before.put_back_if_skipped();
  round_into(shard.rounded, shard.master, range);
}

void step_sgd(const SgdShard& shard, const DecayRange& range, const SgdSettings& settings) {
  const at::Tensor master = wide_part(shard.master, range), velocity = wide_part(shard.velocity, range);
  const at::Tensor gradient = scaled_gradient(shard.gradient, shard.master, range, settings);
  const BeforeStep before(settings.factor_there, {part(shard.master, range), part(shard.velocity, range)});
  velocity.mul_(settings.momentum).add_(gradient.add_(master, range.weight_decay));
  master.sub_(velocity, settings.learning_rate);
  put_back(shard.master, range, master);
  put_back(shard.velocity, range, velocity);
  before.put_back_if_skipped();
  round_into(shard.rounded, shard.master, range);
}

// Lane j of a block adds x[j]^2, x[8 + j]^2, ...; then lanes in pairs: the order of square_sums.h.
at::Tensor square_sums(const at::Tensor& values) {
  constexpr std::int64_t kLanes = 8;
  const std::int64_t missing = (kSquareBlock - values.numel() % kSquareBlock) % kSquareBlock;
  const at::Tensor wide = at::constant_pad_nd(values.to(at::kDouble), {0, missing}).view({-1, kSquareBlock / kLanes, kLanes});
  const at::Tensor squares = wide.mul(wide);
  at::Tensor lanes = squares.select(1, 0).clone();
  for (std::int64_t row = 1; row < kSquareBlock / kLanes; ++row) lanes.add_(squares.select(1, row));
  for (std::int64_t width = kLanes; width > 1; width /= 2) {
    const at::Tensor pairs = lanes.view({-1, width / 2, 2});
    lanes = pairs.select(2, 0).add(pairs.select(2, 1));
  }
  return lanes.view({-1});
}

// As ExactSum::add() takes a double apart, for all at once; int64 sums do not depend on their order.
at::Tensor exact_limbs(const at::Tensor& values) {
  constexpr std::int64_t kLimbMask = (std::int64_t{1} << kLimbBits) - 1, kExponent = 0x7ff;
  const at::Tensor bits = values.contiguous().view(at::kLong);
  const at::Tensor exponent = bits.bitwise_right_shift(52).bitwise_and_(kExponent);
  const at::Tensor is_finite = exponent.ne(kExponent), is_normal = exponent.gt(0);
  const at::Tensor mantissa =
      bits.bitwise_and(0xfffffffffffffLL).add_(is_normal.to(at::kLong).bitwise_left_shift_(52)).mul_(is_finite.to(at::kLong));
  const at::Tensor sign = bits.ge(0).to(at::kLong).mul_(2).sub_(1);
  const at::Tensor position = exponent.clamp_min(1).sub_(1), shift = position.remainder(kLimbBits);
  const at::Tensor limb = position.div(kLimbBits, "floor").mul_(is_finite.to(at::kLong));
  const at::Tensor low = mantissa.bitwise_and(kLimbMask).bitwise_left_shift_(shift);
  const at::Tensor high = mantissa.bitwise_right_shift(kLimbBits).bitwise_left_shift_(shift);
  const at::Tensor limbs = at::zeros({static_cast<std::int64_t>(ExactSum::kLimbs)}, bits.options());
  const auto logical_high = [&](const at::Tensor& number) { return number.bitwise_right_shift(kLimbBits).bitwise_and_(kLimbMask); };
  limbs.index_add_(0, limb, low.bitwise_and(kLimbMask).mul_(sign));
  limbs.index_add_(0, limb.add(1), logical_high(low).add_(high.bitwise_and(kLimbMask)).mul_(sign));
  limbs.index_add_(0, limb.add(2), logical_high(high).mul_(sign));
  limbs.select(0, static_cast<std::int64_t>(ExactSum::kLimbs) - 1).add_(is_finite.logical_not().sum());
  return limbs;
}

void add_squares(const at::Tensor& limbs, const at::Tensor& values) { limbs.add_(exact_limbs(square_sums(values))); }
void add_values(const at::Tensor& limbs, const at::Tensor& values) { limbs.add_(exact_limbs(values.to(at::kDouble))); }

// Within rounding of the sum: limbs of squares are not negative. 2^1023 stands for what is more than a double holds.
void gradient_factor(const at::Tensor& factor, const at::Tensor& limbs, const GradientLimit& limit) {
  constexpr double kLowestExponent = -1074, kHighestExponent = 1023;
  const at::TensorOptions wide = limbs.options().dtype(at::kDouble);
  const at::Tensor powers = at::arange(kNotFiniteLimb, wide).mul_(kLimbBits).add_(kLowestExponent).clamp_max_(kHighestExponent).exp2_();
  const at::Tensor norm = limbs.narrow(0, 0, kNotFiniteLimb).to(at::kDouble).mul_(powers).sum().sqrt_().div_(limit.loss_scale);
  const at::Tensor is_finite = limbs.select(0, kNotFiniteLimb).remainder(kNotFiniteCounts).eq(0).logical_and_(norm.isfinite());
  const at::Tensor one = at::ones({}, wide), share = norm.add(1e-6).reciprocal_().mul_(limit.clip);
  const at::Tensor clipped = at::where(is_finite.logical_and(share.lt(1)).logical_and_(one.mul(limit.clip).gt(0)), share, one);
  const at::Tensor stepped = clipped.div(limit.loss_scale);
  factor.copy_(limit.skips ? at::where(is_finite, stepped, at::full_like(stepped, kNothingIsStepped)) : stepped);
}

}  // namespace executor::composed
