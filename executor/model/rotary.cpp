#include "executor/model/rotary.h"

#include <ATen/Dispatch.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sim/units/at.h"

namespace executor {
namespace {

double dynamic_theta(const sim::ModelConfig& config, std::int64_t sequence) {
  const auto width = static_cast<double>(sim::rotary_width(config)), most = static_cast<double>(config.max_positions);
  const double tokens = std::max(most, static_cast<double>(sequence)), factor = config.rope_scaling.factor;
  return config.rope_theta * std::pow(factor * tokens / most - (factor - 1), width / (width - 2));
}

// 0 below `from`, 1 beyond `to`.
double ramp(double at, double from, double to) {
  constexpr double kNoStep = 1e-3;
  return std::clamp((at - from) / (from == to ? kNoStep : to - from), 0.0, 1.0);
}

std::vector<double> yarn(const sim::ModelConfig& config) {
  const sim::RopeScaling& scaling = config.rope_scaling;
  const auto width = static_cast<double>(sim::rotary_width(config)), original = static_cast<double>(scaling.original_positions);
  const auto pair_that_turns = [&](double times) {
    return width * std::log(original / (times * 2 * std::numbers::pi)) / (2 * std::log(config.rope_theta));
  };
  double first = pair_that_turns(scaling.beta_fast), last = pair_that_turns(scaling.beta_slow);
  if (scaling.truncate) first = std::floor(first), last = std::ceil(last);
  first = std::max(first, 0.0);
  last = std::min(last, width - 1);
  std::vector<double> frequencies = unscaled_turns(sim::rotary_width(config), {config.rope_theta}).frequencies;
  for (std::size_t pair = 0; pair < frequencies.size(); ++pair) {
    const double stretched = ramp(static_cast<double>(pair), first, last);
    frequencies[pair] *= (1 - stretched) + stretched / scaling.factor;
  }
  return frequencies;
}

std::vector<double> llama3(const sim::ModelConfig& config) {
  const sim::RopeScaling& scaling = config.rope_scaling;
  std::vector<double> frequencies = unscaled_turns(sim::rotary_width(config), {config.rope_theta}).frequencies;
  for (double& frequency : frequencies) {
    const double turns = static_cast<double>(scaling.original_positions) * frequency / (2 * std::numbers::pi);
    const double kept = ramp(turns, scaling.low_frequency, scaling.high_frequency);
    frequency *= kept + (1 - kept) / scaling.factor;
  }
  return frequencies;
}

std::vector<double> divided(std::vector<double> frequencies, const std::vector<double>& factors) {
  for (std::size_t pair = 0; pair < frequencies.size(); ++pair) frequencies[pair] /= factors[std::min(pair, factors.size() - 1)];
  return frequencies;
}

double yarn_scale(double factor, double weight) { return factor <= 1 ? 1 : 0.1 * weight * std::log(factor) + 1; }

double amplitude_of(const sim::RopeScaling& scaling) {
  if (scaling.attention_factor > 0) return scaling.attention_factor;
  if (scaling.kind == sim::RopeScalingKind::LongRope)
    return scaling.factor <= 1 ? 1 : std::sqrt(1 + std::log(scaling.factor) / std::log(static_cast<double>(scaling.original_positions)));
  if (scaling.kind != sim::RopeScalingKind::Yarn) return 1;
  if (scaling.mscale > 0 && scaling.mscale_all_dim > 0)
    return yarn_scale(scaling.factor, scaling.mscale) / yarn_scale(scaling.factor, scaling.mscale_all_dim);
  return yarn_scale(scaling.factor, 1);
}

std::vector<double> frequencies_of(const sim::ModelConfig& config, std::int64_t sequence) {
  const sim::RopeScaling& scaling = config.rope_scaling;
  const std::int64_t width = sim::rotary_width(config);
  const std::vector<double> plain = unscaled_turns(width, {config.rope_theta}).frequencies;
  switch (scaling.kind) {
    case sim::RopeScalingKind::None: return plain;
    case sim::RopeScalingKind::Linear: return divided(plain, {scaling.factor});
    case sim::RopeScalingKind::Dynamic: return unscaled_turns(width, {dynamic_theta(config, sequence)}).frequencies;
    case sim::RopeScalingKind::Yarn: return yarn(config);
    case sim::RopeScalingKind::Llama3: return llama3(config);
    case sim::RopeScalingKind::LongRope:
      return divided(plain, sequence > scaling.original_positions ? scaling.long_factor : scaling.short_factor);
    case sim::RopeScalingKind::Proportional: break;  // refused (sim/plan/runnable.cpp)
  }
  return plain;
}

}  // namespace

RotaryTurns unscaled_turns(std::int64_t width, RotaryBase base) {
  RotaryTurns turns;
  for (std::int64_t pair = 0; pair < width / 2; ++pair)
    turns.frequencies.push_back(std::pow(base.theta, -2.0 * static_cast<double>(pair) / static_cast<double>(width)));
  return turns;
}

RotaryTurns rotary_turns(const sim::ModelConfig& config, std::int64_t sequence) {
  return {.frequencies = frequencies_of(config, sequence), .amplitude = amplitude_of(config.rope_scaling)};
}

at::Tensor rotary_table(const RotaryTurns& turns, std::int64_t sequence, at::TensorOptions options) {
  const auto pairs = static_cast<std::int64_t>(turns.frequencies.size());
  const at::Tensor table = at::empty({2, sequence, pairs}, options.device(at::kCPU));
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kBFloat16, at::kHalf, table.scalar_type(), "rotary_table", [&] {
    scalar_t* cosine = table.data_ptr<scalar_t>();
    scalar_t* sine = cosine + sequence * pairs;
    for (std::int64_t position = 0; position < sequence; ++position)
      for (std::int64_t pair = 0; pair < pairs; ++pair) {
        const double angle = static_cast<double>(position) * sim::at(turns.frequencies, pair);
        cosine[position * pairs + pair] = static_cast<scalar_t>(turns.amplitude * std::cos(angle));
        sine[position * pairs + pair] = static_cast<scalar_t>(turns.amplitude * std::sin(angle));
      }
  });
  return table.to(options.device());
}

double latent_score_scale(const sim::ModelConfig& config) {
  const sim::RopeScaling& scaling = config.rope_scaling;
  if (scaling.kind != sim::RopeScalingKind::Yarn || scaling.mscale_all_dim <= 0) return 1;
  return std::pow(yarn_scale(scaling.factor, scaling.mscale_all_dim), 2);
}

}  // namespace executor
