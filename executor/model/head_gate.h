// What attention puts out, weighted by a sigmoid or a softplus of the token: an element by its own number, or all of a head by one (Qwen3-Next, Laguna).
// Recorded by autograd, which keeps both operands; the weights are made again in the backward.
#pragma once

#include <ATen/core/Tensor.h>

namespace executor {

enum class GateKind { Sigmoid, Softplus };
// mixed [tokens, heads * width], gates [tokens, heads * width] or [tokens, heads] -> as mixed
at::Tensor gated_heads(const at::Tensor& mixed, const at::Tensor& gates, GateKind kind);

}  // namespace executor
