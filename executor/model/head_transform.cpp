#include "executor/model/head_transform.h"

#include <utility>

#include "executor/model/activation.h"
#include "executor/model/linear.h"

namespace executor {

HeadTransform::HeadTransform(const sim::ModelConfig& config, const LayerParts& layer)
    : weight_(find_leaf(layer, config.head_transform ? "head.transform.weight" : "head.narrowing.weight")),
      bias_(find_leaf(layer, "head.transform.bias")),
      activation_(config.head_transform ? std::optional(config.activation) : std::nullopt),
      norm_(find_norm(config, layer, "head.transform_norm")) {}

at::Tensor HeadTransform::forward(HeadTransformActivations& kept, const at::Tensor& input) const {
  at::Tensor made = kept.product.forward(input, [this](const at::Tensor& x) {
    const at::Tensor product = linear(x, weight_, bias_);
    return activation_ ? activation(product, *activation_) : product;
  });
  if (!norm_) return made;
  ResidualStream read{.value = std::move(made), .addend = {}};
  NormResult result = norm_forward(read, *norm_);
  kept.norm = std::move(result.kept);
  return std::move(result.output);
}

at::Tensor HeadTransform::backward(HeadTransformActivations& kept, const at::Tensor& gradient) const {
  const at::Tensor made = norm_ ? norm_backward(std::exchange(kept.norm, {}), {.output = gradient, .stream = {}}, *norm_) : gradient;
  return kept.product.backward(made);
}

std::optional<HeadTransform> find_head_transform(const sim::ModelConfig& config, const LayerParts& layer) {
  return config.head_transform || config.embedding_width > 0 ? std::optional(HeadTransform(config, layer)) : std::nullopt;
}

}  // namespace executor
