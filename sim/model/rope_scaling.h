// Rotary positions stretched beyond the sequence that a model was first trained on, as `rope_scaling` of a config.json states it.
// A field of ModelConfig. The executor makes its tables of cosines from it; neither time nor memory depend on it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace sim {

// Linear: all frequencies through the factor (Chen et al. 2023). Dynamic: the base grows with the sequence ("NTK"). Yarn: by parts, with a ramp
// between (Peng et al. 2023). Llama3: by parts, by wavelength. LongRope: a factor for each pair (Ding et al. 2024).
// Proportional: frequencies of the whole head, of which the first share turns (Gemma 4).
enum class RopeScalingKind : std::uint8_t { None, Linear, Dynamic, Yarn, Llama3, LongRope, Proportional };
inline constexpr std::string_view kRopeScalingNames[] = {"default", "linear", "dynamic", "yarn", "llama3", "longrope", "proportional"};

struct RopeScaling {
  RopeScalingKind kind = RopeScalingKind::None;
  double factor = 1;                     // how many times longer; what the file leaves out is positions / original_positions
  std::int64_t original_positions = 0;   // before stretching; of yarn, llama3 and longrope
  double attention_factor = 0;           // yarn, longrope: of cosines and sines; 0: as the method's paper says
  double beta_fast = 32, beta_slow = 1;  // yarn: turns within original_positions where the ramp begins and ends
  double mscale = 0,
         mscale_all_dim = 0;  // yarn: give the attention factor where both are there; latent attention's scores take the second, squared
  double share = 1;           // proportional
  bool truncate = true;       // yarn: the ramp begins and ends at whole pairs
  double low_frequency = 1, high_frequency = 4;       // llama3: original_positions through these are the wavelengths around the ramp
  std::vector<double> short_factor{}, long_factor{};  // longrope: of each pair; sequences up to original_positions, and longer
  bool operator==(const RopeScaling&) const = default;
};

// Whether cosines and sines have a factor besides: then what turns is longer afterwards.
constexpr bool lengthens(const RopeScaling& scaling) {
  if (scaling.kind != RopeScalingKind::Yarn && scaling.kind != RopeScalingKind::LongRope) return false;
  if (scaling.attention_factor > 0) return scaling.attention_factor != 1;
  return scaling.mscale == 0 || scaling.mscale != scaling.mscale_all_dim;
}

}  // namespace sim
