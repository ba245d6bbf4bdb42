// What follows a segment's output product: + bias, dropout, + residual stream. Outside autograd: nothing has to be kept for its backward,
// the mask is drawn again.
#pragma once

#include "executor/model/dropout.h"
#include "executor/model/leaf.h"

namespace executor {

// sum [tokens, hidden] becomes stream + dropout(sum + bias), in place; `stream` is only read. bias: a leaf without tensors where it is already in.
void add_residual(at::Tensor& sum, const at::Tensor& stream, const Leaf& bias, const Dropout& dropout);

// The gradient at `sum` (that at `stream` is `output_gradient` itself). May return `output_gradient` itself.
at::Tensor residual_backward(const at::Tensor& output_gradient, const Leaf& bias, const Dropout& dropout);

}  // namespace executor
