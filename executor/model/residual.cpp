#include "executor/model/residual.h"

#include <ATen/ops/sum.h>

namespace executor {

void add_residual(at::Tensor& sum, const at::Tensor& stream, const Leaf& bias, const Dropout& dropout) {
  if (bias.value.defined()) sum.add_(bias.value);
  apply_dropout(sum, dropout);
  sum.add_(stream);
}

at::Tensor residual_backward(const at::Tensor& output_gradient, const Leaf& bias, const Dropout& dropout) {
  at::Tensor gradient = output_gradient;
  if (dropout.probability > 0) {
    gradient = output_gradient.clone();
    apply_dropout(gradient, dropout);
  }
  if (bias.value.defined()) bias.gradient.add_(gradient.sum(0));
  return gradient;
}

}  // namespace executor
