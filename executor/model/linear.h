// y = x W^T (+ b). Its backward adds the weight's gradient straight into the leaf's buffer, without the temporary and the extra pass over
// memory of autograd's own accumulation. Recorded by autograd when gradients are on. Operands of a scaled weight are rounded to 8 bit for each of the
// three products, and kept as they came.
#pragma once

#include "executor/model/leaf.h"

namespace executor {

// input [tokens, inputs] -> [tokens, outputs]. Without bias: a leaf without tensors.
at::Tensor linear(const at::Tensor& input, const Leaf& weight, const Leaf& bias = {});

}  // namespace executor
