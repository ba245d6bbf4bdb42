#include "executor/model/batch_norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/var_mean.h>
#include <ATen/ops/zeros.h>

#include "executor/model/gradient_place.h"

namespace executor {
namespace {

constexpr std::int64_t kDims[] = {0, 2, 3};
constexpr at::IntArrayRef kAllButChannels(kDims);

at::Tensor wide(const at::Tensor& tensor) { return tensor.scalar_type() == at::kDouble ? tensor : tensor.to(at::kFloat); }

at::Tensor over_map(const at::Tensor& of_channels) { return of_channels.view({1, -1, 1, 1}); }

// A map of its own, in which callers go on: of maps there is never one more than is handed on.
at::Tensor normalized(const at::Tensor& map, const at::Tensor& mean, const at::Tensor& inverse) {
  return (wide(map) - over_map(mean)).mul_(over_map(inverse));
}

at::Tensor factor_of(const BatchNormLayer& layer) { return wide(layer.scale.value.detach()); }

}  // namespace

at::Tensor batch_moments(const at::Tensor& map) {
  const at::Tensor numbers = wide(map);
  const std::int64_t channels = map.size(1);
  if (map.numel() == 0) return at::zeros({2 * channels + 1}, numbers.options());
  const std::int64_t count = map.numel() / channels;
  const auto [variance, mean] = at::var_mean(numbers, kAllButChannels, /*correction=*/at::Scalar(0));
  return at::cat({mean, variance * count, at::full({1}, count, numbers.options())});
}

BatchMoments merged_moments(const at::Tensor& of_ranks) {
  const std::int64_t channels = (of_ranks.size(1) - 1) / 2;
  const at::Tensor means = of_ranks.narrow(1, 0, channels), squares = of_ranks.narrow(1, channels, channels),
                   counts = of_ranks.narrow(1, 2 * channels, 1);
  const at::Tensor count = counts.sum(), mean = (means * counts).sum(0) / count;
  return {.mean = mean, .variance = (squares + counts * (means - mean).square()).sum(0) / count, .count = count};
}

void RunningStatistics::follow(const BatchMoments& batch) const {
  const at::Tensor unbiased = batch.variance * (batch.count / (batch.count - 1).clamp_min(1));
  mean.lerp_(batch.mean.to(mean.scalar_type()), momentum);
  variance.lerp_(unbiased.to(variance.scalar_type()), momentum);
}

BatchNormResult batch_norm_forward(const at::Tensor& map, const BatchMoments& moments, const BatchNormLayer& layer) {
  const at::Tensor inverse = (moments.variance + layer.epsilon).rsqrt();
  const at::Tensor output =
      normalized(map, moments.mean, inverse).mul_(over_map(factor_of(layer))).add_(over_map(wide(layer.shift.value.detach())));
  return {.output = output.to(map.scalar_type()), .kept = {.input = map, .mean = moments.mean, .inverse = inverse, .count = moments.count}};
}

at::Tensor batch_norm_sums(const BatchNormActivations& kept, const at::Tensor& output_gradient, const BatchNormLayer& layer) {
  const at::Tensor gradient = wide(output_gradient);
  const at::Tensor sum = gradient.sum(kAllButChannels),
                   product_sum = normalized(kept.input, kept.mean, kept.inverse).mul_(gradient).sum(kAllButChannels);
  if (layer.shift.gradient.defined()) add_gradient(layer.shift.gradient, sum);
  if (layer.scale.gradient.defined()) add_gradient(layer.scale.gradient, product_sum);
  return at::cat({sum, product_sum});
}

at::Tensor batch_norm_backward(const BatchNormActivations& kept, const BatchNormGradients& gradients, const BatchNormLayer& layer) {
  const std::int64_t channels = kept.mean.size(0);
  const at::Tensor means = gradients.sums / kept.count;
  const at::Tensor centred = normalized(kept.input, kept.mean, kept.inverse).mul_(over_map(means.narrow(0, channels, channels).neg()));
  centred.add_(wide(gradients.output)).sub_(over_map(means.narrow(0, 0, channels)));
  return centred.mul_(over_map(factor_of(layer) * kept.inverse)).to(kept.input.scalar_type());
}

}  // namespace executor
