// Tensors of several types for kernels that read many ranges of one type from one address: gradients of units in full precision beside others.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/TensorBody.h>

#include <vector>

#include "executor/kernels/square_sums_cuda.h"

namespace executor {

struct TypedRanges {
  at::Tensor first;                  // from whose address on the ranges count
  std::vector<ElementRange> ranges;  // one a tensor, in their order
};
// One for each type among contiguous tensors of one device; none where there is no tensor.
std::vector<TypedRanges> ranges_by_type(at::TensorList tensors);

}  // namespace executor
