// The nonlinearity of the feed-forward network, recorded by autograd.
#pragma once

#include <ATen/core/Tensor.h>

#include "sim/model/model_config.h"

namespace executor {

at::Tensor activation(const at::Tensor& input, sim::Activation kind);

// joint [tokens, 2 width] = a | b  ->  activation(a) * b [tokens, width]. Only `joint` is kept for the backward.
// limit > 0 (gpt-oss): min(a, limit) sigmoid(1.702 of it) * (b within +- limit, + 1), whatever `kind`.
struct GateForm {
  sim::Activation kind = sim::Activation::Silu;
  double limit = 0;
};
inline GateForm gate_form(const sim::ModelConfig& config) { return {.kind = config.activation, .limit = config.gate_limit}; }
at::Tensor gated_activation(const at::Tensor& joint, const GateForm& form);

}  // namespace executor
