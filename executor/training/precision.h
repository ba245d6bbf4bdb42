// The plan's precision as LibTorch's scalar types.
#pragma once

#include <c10/core/ScalarType.h>

#include "sim/cluster/hardware_profile.h"
#include "sim/plan/parallel_plan.h"

namespace executor {

inline c10::ScalarType scalar_type(sim::Precision precision) {
  switch (precision) {
    case sim::Precision::Fp64: return c10::kDouble;
    case sim::Precision::Bf16: return c10::kBFloat16;
    case sim::Precision::Fp16: return c10::kHalf;
    default: return c10::kFloat;
  }
}

// Of gradients while they cross links: in the precision of the unit whose they are.
inline c10::ScalarType wire_type(const sim::ParallelPlan& plan, sim::LayerIndex layer) {
  return scalar_type(plan.precision_of(layer).of(sim::Numbers::Wire));
}

// Of weights that their owners send.
inline c10::ScalarType sent_type(sim::WeightSync sync, c10::ScalarType kept) {
  switch (sync) {
    case sim::WeightSync::BroadcastFp16: return c10::kHalf;
    case sim::WeightSync::BroadcastBf16: return c10::kBFloat16;
    default: return kept;
  }
}

}  // namespace executor
