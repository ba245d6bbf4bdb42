#include "executor/model/norm.h"

#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/native_layer_norm_backward.h>
#include <torch/csrc/autograd/custom_function.h>

#include "executor/kernels/on_device.h"
#include "executor/model/rms_norm_kernel.h"

namespace executor {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm(const at::Tensor& input, const at::Tensor& scale, const at::Tensor& shift, double epsilon) {
  if (!on_device::has_norm(input)) return at::native_layer_norm(input, {input.size(1)}, scale, shift, epsilon);
  const on_device::NormOutput result = on_device::norm_forward(input.detach().contiguous(), {scale, shift}, epsilon);
  return {result.output, result.mean, result.inverse};
}

struct LayerNormFunction : torch::autograd::Function<LayerNormFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, double epsilon, const Leaf& scale, const Leaf& shift) {
    const at::Tensor value = scale.value.detach(), shift_value = shift.value.detach();
    const auto [output, mean, deviation] = layer_norm(input, value, shift_value, epsilon);
    context->save_for_backward({input});
    context->saved_data["scale"] = value;
    context->saved_data["shift"] = shift_value;
    context->saved_data["mean"] = mean;
    context->saved_data["deviation"] = deviation;
    context->saved_data["scale_gradient"] = scale.gradient;
    context->saved_data["shift_gradient"] = shift.gradient;
    return output;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    auto& saved = context->saved_data;
    const at::Tensor input = context->get_saved_variables().front();
    if (on_device::has_norm(input))
      return {on_device::norm_backward({.output_gradient = gradients.front().contiguous(),
                                        .input = input,
                                        .mean = saved["mean"].toTensor(),
                                        .inverse = saved["deviation"].toTensor(),
                                        .scale = saved["scale"].toTensor()},
                                       {saved["scale_gradient"].toTensor(), saved["shift_gradient"].toTensor()}),
              at::Tensor(), at::Tensor(), at::Tensor()};
    const auto [input_gradient, scale_gradient, shift_gradient] = at::native_layer_norm_backward(
        gradients.front().contiguous(), input, {input.size(1)}, saved["mean"].toTensor(), saved["deviation"].toTensor(),
        saved["scale"].toTensor(), saved["shift"].toTensor(), {true, true, true});
    saved["scale_gradient"].toTensor().add_(scale_gradient);
    saved["shift_gradient"].toTensor().add_(shift_gradient);
    return {input_gradient, at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

struct RmsNormFunction : torch::autograd::Function<RmsNormFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, double epsilon, const Leaf& scale) {
    const at::Tensor value = scale.value.detach();
    const auto [output, inverse] = rms_norm_forward(input, value, epsilon);
    context->save_for_backward({input});
    context->saved_data["scale"] = value;
    context->saved_data["inverse"] = inverse;
    context->saved_data["scale_gradient"] = scale.gradient;
    return output;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    auto& saved = context->saved_data;
    at::Tensor scale_gradient = saved["scale_gradient"].toTensor();
    const at::Tensor input_gradient = rms_norm_backward({.input = context->get_saved_variables().front(),
                                                         .inverse = saved["inverse"].toTensor(),
                                                         .scale = saved["scale"].toTensor(),
                                                         .output_gradient = gradients.front().contiguous()},
                                                        scale_gradient);
    return {input_gradient, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor norm(const at::Tensor& input, sim::Norm kind, double epsilon, const Leaf& scale, const Leaf& shift) {
  if (kind == sim::Norm::LayerNorm) return LayerNormFunction::apply(input, epsilon, scale, shift);
  return RmsNormFunction::apply(input, epsilon, scale);
}

}  // namespace executor
