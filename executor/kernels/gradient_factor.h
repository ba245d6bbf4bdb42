// What an optimizer multiplies every gradient by: it undoes the loss scale, and clips. The arithmetic that the host and a GPU share. No tensors.
#pragma once

#include "executor/kernels/exact_limbs.h"

namespace executor {

struct GradientLimit {
  double clip = 0;  // the highest norm; 0: none
  double loss_scale = 1;
  bool skips = false;  // fp16: where the norm is not finite, nothing is stepped
};

inline constexpr double kNothingIsStepped = -1;  // in the place of a factor

// norm: of the loss itself, not of the scaled one.
MESHWRIGHT_INLINE double gradient_factor(double norm, const GradientLimit& limit) {
  if (limit.skips && !is_finite(norm)) return kNothingIsStepped;
  const double share = limit.clip / (norm + 1e-6);
  return (limit.clip > 0 && share < 1.0 ? share : 1.0) / limit.loss_scale;
}
MESHWRIGHT_INLINE double norm_of(double squares, const GradientLimit& limit) { return std::sqrt(squares) / limit.loss_scale; }

}  // namespace executor
