#include "executor/model/head.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/mm.h>

#include <algorithm>
#include <utility>

#include "executor/model/weight_gradients.h"

namespace executor {

// Tied, the weight is the token embedding's.
Head::Head(const sim::ModelConfig& config, const LayerParts& layer, TensorPosition tensor)
    : norm_(find_norm(config, layer, "head.norm")),
      transform_(find_head_transform(config, layer)),
      weight_(find_leaf(layer, config.tied_embeddings ? "embedding.tokens.weight" : "head.weight")),
      bias_(find_leaf(layer, "head.bias")),
      cap_(config.logit_cap),
      factor_(config.logit_factor) {
  const std::int64_t columns = weight_.value.size(0), first = tensor.rank * columns;
  vocabulary_ = {.first = first, .real = std::clamp<std::int64_t>(config.vocabulary - first, 0, columns)};
}

at::Tensor Head::normalized(HeadActivations& kept, ResidualStream stream) const {
  if (!norm_) {
    sum_up(stream);
    return stream.value;
  }
  NormResult result = norm_forward(stream, *norm_);
  kept.norm = std::move(result.kept);
  return result.output;
}

void Head::logits(HeadActivations& kept, at::Tensor normalized, const at::Tensor& targets) const {
  kept.normalized = transform_ ? transform_->forward(kept.transform, normalized) : std::move(normalized);
  kept.entropy.logits =
      bias_.value.defined() ? at::addmm(bias_.value, kept.normalized, weight_.value.t()) : at::mm(kept.normalized, weight_.value.t());
  if (factor_ != 1) kept.entropy.logits.mul_(factor_);
  if (cap_ > 0) kept.entropy.logits.div_(cap_).tanh_().mul_(cap_);
  kept.entropy.targets = targets;
  kept.entropy.maximum = empty_maximum(kept.entropy.logits);
  local_maximum(kept.entropy.maximum, kept.entropy.logits, vocabulary_);
}

void Head::exponentials(HeadActivations& kept) const {
  kept.sums = empty_sums(kept.entropy.logits);
  local_exponentials(kept.sums, kept.entropy, vocabulary_);
}

at::Tensor Head::losses(const HeadActivations& kept) const {
  const at::Tensor losses = token_losses(kept.sums);
  return kept.without_loss.defined() ? losses.index_fill(0, kept.without_loss, 0) : losses;
}

at::Tensor Head::projection_backward(HeadActivations& kept, const LossFactor& factor) const {
  const at::Tensor slope = cap_ > 0 ? kept.entropy.logits.div(cap_).square_().neg_().add_(1) : at::Tensor();
  loss_gradient_in_place(kept.entropy, kept.sums, vocabulary_, factor);
  if (kept.without_loss.defined()) kept.entropy.logits.index_fill_(0, kept.without_loss, 0);
  const CrossEntropyTargets entropy = std::exchange(kept.entropy, {});
  if (slope.defined()) entropy.logits.mul_(slope);
  if (factor_ != 1) entropy.logits.mul_(factor_);
  PutOff::sum_or_keep(
      {.output_gradient = entropy.logits, .input = std::exchange(kept.normalized, {}), .weight = weight_.gradient, .bias = bias_.gradient},
      !transform_);
  return at::mm(entropy.logits, weight_.value);
}

at::Tensor Head::product_backward(HeadActivations& kept, const LossFactor& factor) const {
  at::Tensor gradient = projection_backward(kept, factor);  // the logits are gone
  return transform_ ? transform_->backward(kept.transform, gradient) : gradient;
}

at::Tensor Head::norm_backward(const HeadActivations& kept, const at::Tensor& gradient) const {
  return norm_ ? executor::norm_backward(kept.norm, {.output = gradient, .stream = {}}, *norm_) : gradient;
}

}  // namespace executor
