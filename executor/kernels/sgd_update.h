// One element's step of SGD with momentum: the arithmetic that the CPU's loop and the GPU's kernel share, so both give the same bits.
#pragma once

#include "executor/kernels/optimizer_loops.h"

namespace executor {

template <class Master>
struct SgdElement {
  Master weight, velocity;
};

template <class Master>
MESHWRIGHT_INLINE SgdElement<Master> sgd_update(const SgdElement<Master>& at, Master unclipped, const SgdFactors<Master>& by) {
  const Master gradient = unclipped * by.gradient_factor + by.decay * at.weight;
  const Master velocity = by.momentum * at.velocity + gradient;
  return {.weight = at.weight - by.learning_rate * velocity, .velocity = velocity};
}

}  // namespace executor
