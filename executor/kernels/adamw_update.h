// One element's step of AdamW: the arithmetic that the CPU's loop and the GPU's kernel share, so both give the same bits.
#pragma once

#include <cmath>

#include "executor/kernels/optimizer_loops.h"

namespace executor {

template <class Master>
struct AdamWElement {
  Master weight, first_moment, second_moment;
};

template <class Master>
MESHWRIGHT_INLINE AdamWElement<Master> adamw_update(const AdamWElement<Master>& at, Master unclipped, const AdamWFactors<Master>& by) {
  const Master gradient = unclipped * by.gradient_factor;
  const Master m = by.beta1 * at.first_moment + by.one_minus_beta1 * gradient;
  const Master v = by.beta2 * at.second_moment + by.one_minus_beta2 * gradient * gradient;
  return {.weight = at.weight * by.keep - by.step_size * m / (std::sqrt(v) * by.root_correction + by.epsilon),
          .first_moment = m,
          .second_moment = v};
}

}  // namespace executor
