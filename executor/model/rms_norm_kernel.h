// RMSNorm as two passes over memory; LibTorch makes it of six operators, as a device without loops of ours does. Contiguous [tokens, width]; 16-bit numbers are computed
// with in fp32.
//
//   inverse = 1 / sqrt(mean(x^2) + epsilon)      y = x * inverse * scale
//   dx = inverse * (g - n * mean(g * n)),  g = dy * scale,  n = x * inverse;      dscale = sum over tokens of dy * n
//
// A scale without a tensor is one of ones, and has no gradient.
#pragma once

#include <ATen/core/Tensor.h>

namespace executor {

struct RmsNormOutput {
  at::Tensor output;   // [tokens, width]
  at::Tensor inverse;  // [tokens], at least fp32
};
RmsNormOutput rms_norm_forward(const at::Tensor& input, const at::Tensor& scale, double epsilon);

struct RmsNormGradients {
  at::Tensor input, inverse, scale, output_gradient;
};
// Adds to scale_gradient; returns the gradient at the input.
at::Tensor rms_norm_backward(const RmsNormGradients& saved, const at::Tensor& scale_gradient);

}  // namespace executor
