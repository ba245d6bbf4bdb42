// What follows a segment's output product: + bias, dropout, + residual stream. Outside autograd: nothing has to be kept for its backward,
// the mask is drawn again. The sum itself waits for the norm that reads it, which makes both in one pass (norm.h).
#pragma once

#include "executor/model/dropout.h"
#include "executor/model/leaf.h"

namespace executor {

struct ResidualStream {
  at::Tensor value;   // [tokens, hidden]
  at::Tensor addend;  // still to be added to `value`, in place; without a tensor once it is. Only read
};
void sum_up(ResidualStream& stream);  // where no norm reads it

// stream + factor * dropout(product + bias), as a sum over `product` that is still to be made. bias: a leaf without tensors where it is already in.
ResidualStream add_residual(const ResidualStream& stream, at::Tensor product, const Leaf& bias, const Dropout& dropout, double factor = 1);

// The gradient at `product` (that at `stream` is `output_gradient` itself). May return `output_gradient` itself.
at::Tensor residual_backward(const at::Tensor& output_gradient, const Leaf& bias, const Dropout& dropout, double factor = 1);

}  // namespace executor
