#include "executor/model/activation.h"

#include <ATen/ops/empty_like.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/silu_backward.h>
#include <torch/csrc/autograd/custom_function.h>

#include "executor/kernels/on_device.h"

namespace executor {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct GatedSiluFunction : torch::autograd::Function<GatedSiluFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& joint) {
    context->save_for_backward({joint});
    const std::int64_t width = joint.size(1) / 2;
    if (on_device::has_kernels(joint)) return on_device::gated_silu(joint);
    return at::silu(joint.narrow(1, 0, width)).mul_(joint.narrow(1, width, width));
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const at::Tensor joint = context->get_saved_variables().front();
    const std::int64_t width = joint.size(1) / 2;
    if (on_device::has_kernels(joint)) return {on_device::gated_silu_backward(joint, gradients.front())};
    const at::Tensor gate = joint.narrow(1, 0, width), value = joint.narrow(1, width, width);
    const at::Tensor result = at::empty_like(joint);
    at::Tensor gate_gradient = result.narrow(1, 0, width), value_gradient = result.narrow(1, width, width);
    at::silu_backward_out(gate_gradient, at::mul(gradients.front(), value), gate);
    at::silu_out(value_gradient, gate).mul_(gradients.front());
    return {result};
  }
};

}  // namespace

at::Tensor activation(const at::Tensor& input, sim::Activation kind) {
  switch (kind) {
    case sim::Activation::GeluTanh: return at::gelu(input, "tanh");
    case sim::Activation::Gelu: return at::gelu(input);
    case sim::Activation::Silu: return at::silu(input);
    case sim::Activation::Relu: return at::relu(input);
  }
  return input;
}

at::Tensor gated_activation(const at::Tensor& joint, sim::Activation kind) {
  if (kind == sim::Activation::Silu) return GatedSiluFunction::apply(joint);
  const std::int64_t width = joint.size(1) / 2;
  return activation(joint.narrow(1, 0, width), kind).mul(joint.narrow(1, width, width));
}

}  // namespace executor
