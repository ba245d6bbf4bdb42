#include "executor/model/norm.h"

#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/native_layer_norm_backward.h>
#include <ATen/ops/zeros_like.h>

#include <optional>
#include <utility>

#include "executor/kernels/on_device.h"
#include "executor/model/gradient_place.h"
#include "executor/model/rms_norm_kernel.h"

namespace executor {
namespace {

std::optional<at::Tensor> if_there(at::Tensor tensor) { return tensor.defined() ? std::optional(std::move(tensor)) : std::nullopt; }

NormResult layer_norm(const at::Tensor& input, const NormLayer& layer) {
  const auto [output, mean, inverse] =
      at::native_layer_norm(input, {input.size(1)}, if_there(layer.factor()), if_there(layer.shift.value), layer.epsilon);
  return {output, {input, mean, inverse}};
}

NormResult rms_norm(const at::Tensor& input, const NormLayer& layer) {
  const auto [output, inverse] = rms_norm_forward(input, layer.factor(), layer.epsilon);
  return {output, {input, {}, inverse}};
}

at::Tensor layer_norm_backward(const NormActivations& kept, const at::Tensor& gradient, const NormLayer& layer) {
  const auto [input_gradient, scale_gradient, shift_gradient] =
      at::native_layer_norm_backward(gradient, kept.input, {kept.input.size(1)}, kept.mean, kept.inverse, if_there(layer.factor()),
                                     if_there(layer.shift.value), {true, layer.scale.value.defined(), layer.shift.gradient.defined()});
  if (layer.scale.gradient.defined()) add_gradient(layer.scale.gradient, scale_gradient);
  if (layer.shift.gradient.defined()) add_gradient(layer.shift.gradient, shift_gradient);
  return input_gradient;
}

// Where kernels write it: of a frozen one for nobody.
at::Tensor gradient_of(const Leaf& leaf) {
  return leaf.gradient.defined() || !leaf.value.defined() ? leaf.gradient : at::zeros_like(leaf.value);
}

// Whether a kernel writes both; of two that have not begun together, the one that is first is zeroed.
bool writes_both(const on_device::NormWeights& gradients) {
  const bool scale = takes_first(gradients.scale), shift = takes_first(gradients.shift);
  if (!gradients.shift.defined() || scale == shift) return scale;
  (scale ? gradients.scale : gradients.shift).zero_();
  return false;
}

}  // namespace

NormResult norm_forward(ResidualStream& stream, const NormLayer& layer) {
  if (on_device::has_norm(stream.value)) {
    const at::Tensor addend = std::exchange(stream.addend, {});
    const on_device::NormOutput result =
        on_device::norm_forward({stream.value, addend}, {layer.factor(), layer.shift.value}, layer.epsilon);
    return {result.output, {stream.value, result.mean, result.inverse}};
  }
  sum_up(stream);
  return layer.kind == sim::Norm::LayerNorm ? layer_norm(stream.value, layer) : rms_norm(stream.value, layer);
}

at::Tensor norm_backward(const NormActivations& kept, const NormOutputGradients& gradients, const NormLayer& layer) {
  const at::Tensor output_gradient = gradients.output.contiguous();
  if (on_device::has_norm(kept.input)) {
    const on_device::NormWeights sums{gradient_of(layer.scale), gradient_of(layer.shift)};
    return on_device::norm_backward({.output_gradient = output_gradient,
                                     .stream_gradient = gradients.stream,
                                     .input = kept.input,
                                     .mean = kept.mean,
                                     .inverse = kept.inverse,
                                     .scale = layer.factor()},
                                    sums, writes_both(sums));
  }
  const at::Tensor through =
      layer.kind == sim::Norm::LayerNorm
          ? layer_norm_backward(kept, output_gradient, layer)
          : rms_norm_backward({.input = kept.input, .inverse = kept.inverse, .scale = layer.factor(), .output_gradient = output_gradient},
                              gradient_of(layer.scale));
  return gradients.stream.defined() ? through.add_(gradients.stream) : through;
}

}  // namespace executor
