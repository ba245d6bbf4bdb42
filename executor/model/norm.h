// LayerNorm and RMSNorm over the last dimension, recorded by autograd; gradients of scale and shift go straight into their leaves.
// Saved for backward: the input, and one or two numbers a token.
#pragma once

#include "executor/model/leaf.h"
#include "sim/model/model_config.h"

namespace executor {

// input [tokens, width]; shift: a leaf without tensors for RMSNorm.
at::Tensor norm(const at::Tensor& input, sim::Norm kind, double epsilon, const Leaf& scale, const Leaf& shift);

}  // namespace executor
