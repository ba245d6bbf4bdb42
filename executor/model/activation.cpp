#include "executor/model/activation.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/clamp_min.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/gelu_backward.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/silu_backward.h>
#include <ATen/ops/threshold_backward.h>
#include <torch/csrc/autograd/custom_function.h>

#include "executor/kernels/on_device.h"

namespace executor {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// In the place of `into`, and of nothing else.
void put_activation(at::Tensor into, const at::Tensor& input, sim::Activation kind) {
  switch (kind) {
    case sim::Activation::GeluTanh: at::gelu_out(into, input, "tanh"); break;
    case sim::Activation::Gelu: at::gelu_out(into, input); break;
    case sim::Activation::Silu: at::silu_out(into, input); break;
    case sim::Activation::Relu: at::clamp_min_out(into, input, 0); break;
    case sim::Activation::SquaredRelu: at::clamp_min_out(into, input, 0).square_(); break;
    case sim::Activation::Xielu: break;  // refused before (sim/plan/runnable.cpp)
  }
}

void put_activation_backward(at::Tensor into, const at::Tensor& gradient, const at::Tensor& input, sim::Activation kind) {
  switch (kind) {
    case sim::Activation::GeluTanh: at::gelu_backward_out(into, gradient, input, "tanh"); break;
    case sim::Activation::Gelu: at::gelu_backward_out(into, gradient, input); break;
    case sim::Activation::Silu: at::silu_backward_out(into, gradient, input); break;
    case sim::Activation::Relu: at::threshold_backward_out(into, gradient, input, 0); break;
    case sim::Activation::SquaredRelu: at::clamp_min_out(into, input, 0).mul_(gradient).mul_(2); break;
    case sim::Activation::Xielu: break;
  }
}

// LibTorch's operators would keep the relu beside its square, and take two places more in backward.
struct SquaredReluFunction : torch::autograd::Function<SquaredReluFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input) {
    context->save_for_backward({input});
    const at::Tensor result = at::empty_like(input);
    put_activation(result, input, sim::Activation::SquaredRelu);
    return result;
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const at::Tensor input = context->get_saved_variables().front(), result = at::empty_like(input);
    put_activation_backward(result, gradients.front(), input, sim::Activation::SquaredRelu);
    return {result};
  }
};

// A gate and what it lets through, side by side, and the gradient likewise.
struct Gated {
  explicit Gated(const at::Tensor& joint)
      : gate(joint.narrow(1, 0, joint.size(1) / 2)), value(joint.narrow(1, joint.size(1) / 2, joint.size(1) / 2)) {}
  at::Tensor gate, value;
};

constexpr double kSteepness = 1.702;  // gpt-oss

// gate * sigmoid(steepness * gate) * (value + 1), both clamped. In as few places as a gate that is not: memory is counted so.
at::Tensor clamped(const Gated& joint, double limit) {
  const at::Tensor gate = joint.gate.clamp_max(limit), beside = gate.mul(kSteepness).sigmoid_();
  gate.mul_(beside);
  return gate.mul_(beside.copy_(joint.value).clamp_(-limit, limit).add_(1));
}
void clamped_backward(const Gated& into, const Gated& joint, const at::Tensor& gradient, double limit) {
  into.gate.copy_(joint.gate).clamp_max_(limit);
  const at::Tensor beside = into.gate.mul(kSteepness).sigmoid_();  // its share that goes through
  into.value.copy_(into.gate).mul_(beside).mul_(gradient);
  into.gate.addcmul_(into.gate, beside, -1).mul_(kSteepness).add_(1).mul_(beside);  // slope of gate * share
  into.gate.mul_(beside.copy_(joint.value).clamp_(-limit, limit).add_(1)).mul_(gradient);
  into.gate.mul_(beside.copy_(joint.gate).le_(limit));
  into.value.mul_(beside.copy_(joint.value).abs_().le_(limit));
}

struct GatedFunction : torch::autograd::Function<GatedFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& joint, const GateForm& form) {
    context->save_for_backward({joint});
    context->saved_data["kind"] = static_cast<std::int64_t>(form.kind);
    context->saved_data["limit"] = form.limit;
    const Gated parts(joint);
    if (form.limit > 0) return clamped(parts, form.limit);
    if (form.kind == sim::Activation::Silu && on_device::has_kernels(joint)) return on_device::gated_silu(joint);
    const at::Tensor result = at::empty(parts.gate.sizes(), joint.options());
    put_activation(result, parts.gate, form.kind);
    return result.mul_(parts.value);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const at::Tensor joint = context->get_saved_variables().front(), &gradient = gradients.front();
    const auto kind = static_cast<sim::Activation>(context->saved_data["kind"].toInt());
    const double limit = context->saved_data["limit"].toDouble();
    if (limit <= 0 && kind == sim::Activation::Silu && on_device::has_kernels(joint))
      return {on_device::gated_silu_backward(joint, gradient), at::Tensor()};
    const at::Tensor result = at::empty_like(joint);
    const Gated parts(joint), into(result);
    if (limit > 0) {
      clamped_backward(into, parts, gradient, limit);
    } else {
      put_activation_backward(into.gate, at::mul(gradient, parts.value), parts.gate, kind);
      put_activation(into.value, parts.gate, kind);
      into.value.mul_(gradient);
    }
    return {result, at::Tensor()};
  }
};

}  // namespace

at::Tensor activation(const at::Tensor& input, sim::Activation kind) {
  switch (kind) {
    case sim::Activation::GeluTanh: return at::gelu(input, "tanh");
    case sim::Activation::Gelu: return at::gelu(input);
    case sim::Activation::Silu: return at::silu(input);
    case sim::Activation::Relu: return at::relu(input);
    case sim::Activation::SquaredRelu: return SquaredReluFunction::apply(input);
    case sim::Activation::Xielu: break;
  }
  return input;
}

at::Tensor gated_activation(const at::Tensor& joint, const GateForm& form) { return GatedFunction::apply(joint, form); }

}  // namespace executor
