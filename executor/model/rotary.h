// Rotary positions (Su et al. 2021): which angle a pair of numbers of a head turns with each position, as config.json stretches it. Used where the
// stage makes its table. The methods are those of Transformers' modeling_rope_utils; sequences have one length, so none changes on the way.
//
//   linear    f / s                                                          f = theta^(-2i / d), s the factor
//   dynamic   theta' = theta (s n / n_max - s + 1)^(d / (d - 2))             n tokens a sample, where they are more than n_max
//   yarn      ramp from f to f / s over the pairs that turn beta_fast ... beta_slow times within the original positions
//   llama3    ramp from f to f / s over wavelengths of 1 / high ... 1 / low of the original positions
//   longrope  f / its own factor of each pair
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "sim/model/model_config.h"

namespace executor {

struct RotaryTurns {
  std::vector<double> frequencies;  // radians a position, of each pair
  double amplitude = 1;             // of cosines and sines (attention_factor)
};
RotaryTurns rotary_turns(const sim::ModelConfig& config, std::int64_t sequence);
struct RotaryBase {
  double theta = 10'000;
};
RotaryTurns unscaled_turns(std::int64_t width, RotaryBase base);  // theta^(-2i / width)

// cos and sin of position * frequency: [2, sequence, pairs].
at::Tensor rotary_table(const RotaryTurns& turns, std::int64_t sequence, at::TensorOptions options);

// What latent attention's scores are multiplied by beside 1 / sqrt(d): the square of yarn's mscale_all_dim (DeepSeek-V2 and V3).
double latent_score_scale(const sim::ModelConfig& config);

}  // namespace executor
