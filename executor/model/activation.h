// The nonlinearity of the feed-forward network, recorded by autograd.
#pragma once

#include <ATen/core/Tensor.h>

#include "sim/model/model_config.h"

namespace executor {

at::Tensor activation(const at::Tensor& input, sim::Activation kind);

// joint [tokens, 2 width] = a | b  ->  activation(a) * b [tokens, width]. Of SiLU only `joint` is kept for the backward.
at::Tensor gated_activation(const at::Tensor& joint, sim::Activation kind);

}  // namespace executor
