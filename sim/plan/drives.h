// What passes through the host's memory where it lies on drives (docs/decisions/907): as stage 3 of DeepSpeed 0.19 has it by itself
// (runtime/zero/offload_config.py, runtime/swap_tensor), of one rank.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/units/quantity.h"

namespace sim {

struct Drives {
  std::int64_t elements = 0;  // of weights that the rank owns

  static constexpr std::int64_t kGroup = 1'000'000'000;        // sub_group_size: elements that are stepped together
  static constexpr std::int64_t kBuffers = 4;                  // buffer_count: a master, its gradient, two moments
  static constexpr std::int64_t kWeightsKept = 1'000'000'000;  // max_in_cpu: elements that stay in the host's memory
  static constexpr std::int64_t kWeightBuffers = 500'000'000;  // elements: buffer_count x buffer_size

  Bytes states_buffers(Bytes number) const { return number * (kBuffers * std::min(kGroup, elements)); }
  std::int64_t weights_kept() const { return std::min(kWeightsKept, elements); }
  Bytes weights_buffers(Bytes number) const { return elements > kWeightsKept ? number * kWeightBuffers : Bytes{}; }
  double weights_share() const {  // of a rank's, that lies on drives
    return elements > 0 ? 1 - static_cast<double>(weights_kept()) / static_cast<double>(elements) : 0;
  }
};

}  // namespace sim
