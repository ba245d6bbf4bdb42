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

}  // namespace executor
