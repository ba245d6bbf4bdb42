// The plan's precision as LibTorch's scalar types.
#pragma once

#include <c10/core/ScalarType.h>

#include "sim/cluster/hardware_profile.h"

namespace executor {

inline c10::ScalarType scalar_type(sim::Precision precision) {
  switch (precision) {
    case sim::Precision::Fp64: return c10::kDouble;
    case sim::Precision::Bf16: return c10::kBFloat16;
    case sim::Precision::Fp16: return c10::kHalf;
    default: return c10::kFloat;
  }
}

// What the optimizer steps: 16-bit weights have fp32 masters.
inline c10::ScalarType master_type(sim::Precision precision) {
  return sim::is_sixteen_bit(precision) ? c10::kFloat : scalar_type(precision);
}

}  // namespace executor
