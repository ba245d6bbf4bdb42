// Initial weights as a function of (seed, parameter, element in the whole parameter): the same under every layout.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "executor/model/tensor_part.h"

namespace executor {

struct InitialWeights {
  std::uint64_t seed = 1;
  TensorPosition tensor;
  std::int64_t vocabulary = 0;  // rows beyond it (padding) of the tables over the vocabulary are zero
};

// Fills `values` (flat, contiguous) with elements [first, first + numel) of this tensor rank's part of `parameter`.
void fill_initial(at::Tensor& values, const sim::Parameter& parameter, FirstElement first, const InitialWeights& initial);

}  // namespace executor
