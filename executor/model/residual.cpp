#include "executor/model/residual.h"

#include <ATen/ops/sum.h>

#include <utility>

#include "executor/model/gradient_place.h"

namespace executor {

void sum_up(ResidualStream& stream) {
  if (stream.addend.defined()) stream.value.add_(std::exchange(stream.addend, {}));
}

ResidualStream add_residual(const ResidualStream& stream, at::Tensor product, const Leaf& bias, const Dropout& dropout, double factor) {
  if (bias.value.defined()) product.add_(bias.value);
  apply_dropout(product, dropout);
  if (factor != 1) product.mul_(factor);
  return {.value = std::move(product), .addend = stream.value};
}

at::Tensor residual_backward(const at::Tensor& output_gradient, const Leaf& bias, const Dropout& dropout, double factor) {
  at::Tensor gradient = output_gradient;
  if (dropout.probability > 0 || factor != 1) {
    gradient = factor == 1 ? output_gradient.clone() : output_gradient.mul(factor);
    apply_dropout(gradient, dropout);
  }
  if (bias.gradient.defined()) add_gradient(bias.gradient, gradient.sum(0));
  return gradient;
}

}  // namespace executor
