#include "executor/kernels/optimizer.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "executor/kernels/composed.h"
#include "executor/kernels/kept_moments.h"
#include "executor/kernels/numbers.h"
#include "executor/kernels/optimizer_loops.h"
#include "sim/units/at.h"

#if MESHWRIGHT_CUDA
#include <c10/cuda/CUDAStream.h>

#include <vector>

#include "executor/kernels/adamw_cuda.h"
#include "executor/kernels/sgd_cuda.h"
#endif

namespace executor {
namespace {

constexpr std::int64_t kBlock = 2048;  // elements stepped and then rounded, while they are in the cache

template <class Master>
AdamWFactors<Master> factors(const AdamWSettings& settings, const DecayRange& range) {
  const auto step = static_cast<double>(settings.step);
  const double correction1 = 1.0 - std::pow(settings.beta1, step), correction2 = 1.0 - std::pow(settings.beta2, step);
  return {.keep = static_cast<Master>(1.0 - settings.learning_rate * range.weight_decay),
          .beta1 = static_cast<Master>(settings.beta1),
          .one_minus_beta1 = static_cast<Master>(1.0 - settings.beta1),
          .beta2 = static_cast<Master>(settings.beta2),
          .one_minus_beta2 = static_cast<Master>(1.0 - settings.beta2),
          .step_size = static_cast<Master>(settings.learning_rate / correction1),
          .root_correction = static_cast<Master>(1.0 / std::sqrt(correction2)),
          .epsilon = static_cast<Master>(settings.epsilon),
          .gradient_factor = static_cast<Master>(settings.gradient_factor)};
}

template <class Master>
SgdFactors<Master> factors(const SgdSettings& settings, const DecayRange& range) {
  return {.decay = static_cast<Master>(range.weight_decay),
          .momentum = static_cast<Master>(settings.momentum),
          .learning_rate = static_cast<Master>(settings.learning_rate),
          .gradient_factor = static_cast<Master>(settings.gradient_factor)};
}

bool keeps_fewer_bits(const AdamWShard& shard) {
  return shard.first_codes.table != nullptr || shard.first_moment.scalar_type() != shard.master.scalar_type();
}
bool keeps_fewer_bits(const SgdShard&) { return false; }

// A copy of a block's numbers as they are computed with, which is written back when the block is stepped.
template <class Number>
using BlockOf = std::array<Number, kBlock>;

template <class Master, class Gradient, class Number>
void step_kept_block(const AdamWShard& shard, DecayRange block, const AdamWFactors<Number>& by) {
  const KeptMoment kept_first{shard.first_moment, shard.first_codes.scales, shard.first_codes.table},
      kept_second{shard.second_moment, shard.second_codes.scales, shard.second_codes.table};
  const MomentRange range{.begin = block.begin, .end = block.end};
  BlockOf<Number> weights, first, second;
  Master* const master = numbers<Master>(shard.master) + block.begin;
  const std::int64_t elements = block.end - block.begin;
  std::transform(master, master + elements, weights.begin(), [](const Master& weight) { return load(weight); });
  read_moment(first.data(), kept_first, range);
  read_moment(second.data(), kept_second, range);
  adamw_loop({.master = weights.data(),
              .gradient = numbers<Gradient>(shard.gradient) + block.begin,
              .first_moment = first.data(),
              .second_moment = second.data(),
              .elements = elements},
             by);
  write_moment(first.data(), kept_first, range);
  write_moment(second.data(), kept_second, range);
  for (std::int64_t at = 0; at < elements; ++at) store(master[at], sim::at(weights, at));
}

template <class Master, class Gradient, class Number>
void step_block(const AdamWShard& shard, DecayRange block, const AdamWFactors<Number>& by) {
  if (keeps_fewer_bits(shard)) return step_kept_block<Master, Gradient>(shard, block, by);
  adamw_loop({.master = numbers<Master>(shard.master) + block.begin,
              .gradient = numbers<Gradient>(shard.gradient) + block.begin,
              .first_moment = numbers<Master>(shard.first_moment) + block.begin,
              .second_moment = numbers<Master>(shard.second_moment) + block.begin,
              .elements = block.end - block.begin},
             by);
}

template <class Master, class Gradient, class Number>
void step_block(const SgdShard& shard, DecayRange block, const SgdFactors<Number>& by) {
  sgd_loop({.master = numbers<Master>(shard.master) + block.begin,
            .gradient = numbers<Gradient>(shard.gradient) + block.begin,
            .velocity = numbers<Master>(shard.velocity) + block.begin,
            .elements = block.end - block.begin},
           by);
}

// 16-bit numbers are stepped in fp32.
template <class Kept>
using Computed = std::conditional_t<std::is_same_v<Kept, Bfloat16Bits>, float, Kept>;

template <class Rounded>
void round_block(const at::Tensor& master, const at::Tensor& rounded, const DecayRange& block) {
  rounding_loop(RoundingSpan<Rounded>{
      .from = numbers<float>(master) + block.begin, .to = numbers<Rounded>(rounded) + block.begin, .elements = block.end - block.begin});
}

template <class Master, class Gradient, class Shard, class Settings>
void step(const Shard& shard, std::span<const DecayRange> ranges, const Settings& settings) {
  for (const DecayRange& range : ranges) {
    TORCH_CHECK(0 <= range.begin && range.begin <= range.end && range.end <= shard.master.numel(), "a decay range outside of the shard");
    const auto by = factors<Computed<Master>>(settings, range);
    const std::int64_t length = shard.rounded.defined() || keeps_fewer_bits(shard) ? kBlock : shard.master.numel();
    for (std::int64_t begin = range.begin; begin < range.end; begin += length) {
      const DecayRange block{.begin = begin, .end = std::min(begin + length, range.end), .weight_decay = range.weight_decay};
      step_block<Master, Gradient>(shard, block, by);
      if (!shard.rounded.defined()) continue;
      if (shard.rounded.scalar_type() == at::kBFloat16)
        round_block<Bfloat16Bits>(shard.master, shard.rounded, block);
      else
        round_block<Float16Bits>(shard.master, shard.rounded, block);
    }
  }
}

template <class Shard, class Settings>
void step_any(const Shard& shard, std::span<const DecayRange> ranges, const Settings& settings) {
  const auto master = shard.master.scalar_type(), gradient = shard.gradient.scalar_type();
  TORCH_CHECK(!shard.rounded.defined() || (master == at::kFloat && c10::isReducedFloatingType(shard.rounded.scalar_type())),
              "rounded weights are bf16 or fp16 beside an fp32 master");
  if (master == at::kFloat && gradient == at::kFloat)
    step<float, float>(shard, ranges, settings);
  else if (master == at::kDouble && gradient == at::kDouble)
    step<double, double>(shard, ranges, settings);
  else if (master == at::kFloat && gradient == at::kBFloat16)
    step<float, Bfloat16Bits>(shard, ranges, settings);
  else if (master == at::kFloat && gradient == at::kHalf)
    step<float, Float16Bits>(shard, ranges, settings);
  else if (master == at::kBFloat16 && gradient == at::kBFloat16)
    step<Bfloat16Bits, Bfloat16Bits>(shard, ranges, settings);
  else if (master == at::kBFloat16 && gradient == at::kFloat)
    step<Bfloat16Bits, float>(shard, ranges, settings);
  else
    TORCH_CHECK(false, "no optimizer step for ", master, " weights with ", gradient, " gradients");
}

void require_equal(std::initializer_list<at::Tensor> tensors) {
  for (const at::Tensor& tensor : tensors) {
    const at::Tensor& first = *tensors.begin();
    TORCH_CHECK(!tensor.defined() || (tensor.is_contiguous() && tensor.device() == first.device() && tensor.numel() == first.numel()),
                "an optimizer steps flat contiguous tensors of equal length on one device");
  }
}

#if MESHWRIGHT_CUDA

template <class Rounded>
Rounded* rounded_or_null(const at::Tensor& rounded) {
  return rounded.defined() ? numbers<Rounded>(rounded) : nullptr;
}

const double* there_or_null(const at::Tensor& factor) { return factor.defined() ? numbers<double>(factor) : nullptr; }

CudaStream stream_of(const at::Tensor& tensor) { return c10::cuda::getCurrentCUDAStream(tensor.device().index()).stream(); }

template <class Master, class Gradient, class Rounded>
void launch_on(const AdamWShard& shard, std::span<const DecayRange> ranges, const AdamWSettings& settings) {
  std::vector<KeepRange<Master>> kept;
  for (const DecayRange& range : ranges)
    kept.push_back({.begin = range.begin, .end = range.end, .keep = factors<Master>(settings, range).keep});
  launch_adamw<Master, Gradient, Rounded>({.master = numbers<Master>(shard.master),
                                           .gradient = numbers<Gradient>(shard.gradient),
                                           .first_moment = numbers<Master>(shard.first_moment),
                                           .second_moment = numbers<Master>(shard.second_moment),
                                           .rounded = rounded_or_null<Rounded>(shard.rounded),
                                           .factor_there = there_or_null(settings.factor_there)},
                                          kept, factors<Master>(settings, {}), stream_of(shard.master));
}

template <class Master, class Gradient, class Rounded>
void launch_on(const SgdShard& shard, std::span<const DecayRange> ranges, const SgdSettings& settings) {
  std::vector<SgdRange<Master>> decaying;
  for (const DecayRange& range : ranges)
    decaying.push_back({.begin = range.begin, .end = range.end, .decay = factors<Master>(settings, range).decay});
  launch_sgd<Master, Gradient, Rounded>({.master = numbers<Master>(shard.master),
                                         .gradient = numbers<Gradient>(shard.gradient),
                                         .velocity = numbers<Master>(shard.velocity),
                                         .rounded = rounded_or_null<Rounded>(shard.rounded),
                                         .factor_there = there_or_null(settings.factor_there)},
                                        decaying, factors<Master>(settings, {}), stream_of(shard.master));
}

// All ranges in one launch.
template <class Shard, class Settings>
void step_on_gpu(const Shard& shard, std::span<const DecayRange> ranges, const Settings& settings) {
  const auto gradient = shard.gradient.scalar_type(),
             rounded = shard.rounded.defined() ? shard.rounded.scalar_type() : shard.master.scalar_type();
  if (shard.master.scalar_type() == at::kDouble) return launch_on<double, double, double>(shard, ranges, settings);
  if (rounded == at::kBFloat16 && gradient == at::kBFloat16) return launch_on<float, Bfloat16Bits, Bfloat16Bits>(shard, ranges, settings);
  if (rounded == at::kBFloat16) return launch_on<float, float, Bfloat16Bits>(shard, ranges, settings);
  if (rounded == at::kHalf && gradient == at::kHalf) return launch_on<float, Float16Bits, Float16Bits>(shard, ranges, settings);
  if (rounded == at::kHalf) return launch_on<float, float, Float16Bits>(shard, ranges, settings);
  launch_on<float, float, float>(shard, ranges, settings);
}

#endif

}  // namespace

void step_adamw(const AdamWShard& shard, std::span<const DecayRange> ranges, const AdamWSettings& settings) {
  require_equal({shard.master, shard.gradient, shard.first_moment, shard.second_moment, shard.rounded});
  if (shard.master.is_cpu()) return step_any(shard, ranges, settings);
  TORCH_CHECK(!keeps_fewer_bits(shard), "moments in fewer bits than the weights are stepped on a CPU");
#if MESHWRIGHT_CUDA
  if (shard.master.is_cuda() && shard.master.element_size() > 2) return step_on_gpu(shard, ranges, settings);
#endif
  for (const DecayRange& range : ranges) composed::step_adamw(shard, range, settings);
}

void step_sgd(const SgdShard& shard, std::span<const DecayRange> ranges, const SgdSettings& settings) {
  require_equal({shard.master, shard.gradient, shard.velocity, shard.rounded});
  if (shard.master.is_cpu()) return step_any(shard, ranges, settings);
#if MESHWRIGHT_CUDA
  if (shard.master.is_cuda() && shard.master.element_size() > 2) return step_on_gpu(shard, ranges, settings);
#endif
  for (const DecayRange& range : ranges) composed::step_sgd(shard, range, settings);
}

}  // namespace executor
