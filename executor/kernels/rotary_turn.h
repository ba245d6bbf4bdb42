// A pair of numbers turned by an angle: the arithmetic of rotary positions, once, for the CPU's loop and the GPU's kernel.
#pragma once

#include "executor/kernels/vector_target.h"

namespace executor {

template <class Wide>
struct TurnedPair {
  Wide first, second;
};

template <class Wide>
MESHWRIGHT_INLINE TurnedPair<Wide> turned_pair(Wide first, Wide second, Wide cosine, Wide sine) {
  return {first * cosine - second * sine, second * cosine + first * sine};
}

}  // namespace executor
