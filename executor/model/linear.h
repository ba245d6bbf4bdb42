// y = x W^T (+ b). Its backward adds the weight's gradient straight into the leaf's buffer, without the temporary and the extra pass over
// memory of autograd's own accumulation. Recorded by autograd when gradients are on. Operands of a scaled weight are rounded to 8 bit for each of the
// three products, and kept as they came.
#pragma once

#include "executor/model/leaf.h"

namespace executor {

// input [tokens, inputs] -> [tokens, outputs]. Without bias: a leaf without tensors.
at::Tensor linear(const at::Tensor& input, const Leaf& weight, const Leaf& bias = {});

// What it and its backward are made of, for who writes both out: y, and the gradient at the input. agreed: what ranks say of the operands' scales on the way;
// the backward gets what the forward has left there.
enum class Agreement : std::uint8_t { Asked, Known };  // Known: somebody has asked for several products at once
at::Tensor forward_product(const at::Tensor& input, const Leaf& weight, const Leaf& bias, ScaledProduct::Agreed& agreed,
                           Agreement agreement = Agreement::Asked);
at::Tensor backward_product(const at::Tensor& gradient, const Leaf& weight, ScaledProduct::Agreed& agreed,
                            Agreement agreement = Agreement::Asked);

}  // namespace executor
