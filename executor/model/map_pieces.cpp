#include "executor/model/map_pieces.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/max_pool2d_with_indices.h>
#include <ATen/ops/max_pool2d_with_indices_backward.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/threshold_backward.h>

#include <array>

#include "executor/model/gradient_place.h"

namespace executor {
namespace {

using Pair = std::array<std::int64_t, 2>;
constexpr Pair kOne{1, 1}, kNone{0, 0}, kThree{3, 3};

struct Placing {
  Pair stride, padding;
  explicit Placing(const sim::MapShape& shape)
      : stride{shape.stride, shape.stride}, padding{(shape.height - 1) / 2, (shape.width - 1) / 2} {}
};

at::Tensor as_filters(const at::Tensor& matrix, const sim::Operator& op) {
  return matrix.view({matrix.size(0), -1, op.map.height, op.map.width});
}

}  // namespace

at::Tensor convolve(const at::Tensor& map, const Filters& filters, const sim::Operator& op) {
  const Placing placing(op.map);
  const std::optional<at::Tensor> bias = filters.bias.value.defined() ? std::optional(filters.bias.value.detach()) : std::nullopt;
  return at::convolution(map, as_filters(filters.weight.value.detach(), op), bias, placing.stride, placing.padding, kOne,
                         /*transposed=*/false, kNone, op.map.groups);
}

at::Tensor convolve_backward(const at::Tensor& map, const at::Tensor& output_gradient, const Filters& filters, const sim::Operator& op) {
  const Placing placing(op.map);
  const bool biased = filters.bias.value.defined();
  const Pair outputs{op.outputs, 1};
  const auto [input, weight, bias] =
      at::convolution_backward(output_gradient, map, as_filters(filters.weight.value.detach(), op),
                               biased ? at::OptionalIntArrayRef(at::IntArrayRef(outputs).slice(0, 1)) : std::nullopt, placing.stride,
                               placing.padding, kOne, /*transposed=*/false, kNone, op.map.groups, {!op.map.of_images, true, biased});
  if (filters.weight.gradient.defined()) add_gradient(filters.weight.gradient, weight.view(filters.weight.gradient.sizes()));
  if (biased && filters.bias.gradient.defined()) add_gradient(filters.bias.gradient, bias);
  return input;
}

Pooled pool(const at::Tensor& map, const sim::Operator& op) {
  auto [output, places] = at::max_pool2d_with_indices(map, kThree, Placing(op.map).stride, kOne);
  return {.output = std::move(output), .places = places.to(at::kInt)};
}

at::Tensor pool_backward(const at::Tensor& map, const at::Tensor& output_gradient, const at::Tensor& places, const sim::Operator& op) {
  return at::max_pool2d_with_indices_backward(output_gradient, map, kThree, Placing(op.map).stride, kOne, kOne, /*ceil_mode=*/false,
                                              places.to(at::kLong));
}

at::Tensor average(const at::Tensor& map) {
  constexpr Pair kPlaces{2, 3};
  return map.mean(kPlaces, /*keepdim=*/true);
}

at::Tensor average_backward(const at::Tensor& output_gradient, at::IntArrayRef of_map) {
  return (output_gradient / static_cast<double>(of_map[2] * of_map[3])).expand(of_map).contiguous();
}

at::Tensor rectify(const at::Tensor& map) { return at::relu(map); }

at::Tensor rectify_backward(const at::Tensor& output, const at::Tensor& output_gradient) {
  return at::threshold_backward(output_gradient, output, 0);
}

}  // namespace executor
