// The last layer: final norm, transform (head_transform.h), projection to (this tensor rank's part of) the vocabulary, cross-entropy. In the pieces between which tensor
// parallelism communicates. The gradient of the logits is written over them; the products behind it are plain, not autograd's.
//
//   forward   normalized -> logits -> [maximum over ranks] -> exponentials -> [sum over ranks] -> losses
//   backward  product_backward -> [sum over ranks] -> norm_backward
#pragma once

#include "executor/kernels/cross_entropy.h"
#include "executor/model/head_transform.h"
#include "executor/model/norm.h"
#include "executor/model/segment.h"

namespace executor {

// What the head keeps of one microbatch from forward to backward.
struct HeadActivations {
  NormActivations norm;
  HeadTransformActivations transform;
  at::Tensor normalized;        // [tokens, hidden]: what the projection reads
  CrossEntropyTargets entropy;  // logits [tokens, columns], targets and maximum [tokens]
  at::Tensor sums;              // [2, tokens]
  at::Tensor without_loss;      // [n] int64: tokens that predict nothing, as the last one of a document; or no tensor
};

class Head {
 public:
  Head(const sim::ModelConfig& config, const LayerParts& layer, TensorPosition tensor);

  at::Tensor normalized(HeadActivations& kept, ResidualStream stream) const;
  void logits(HeadActivations& kept, at::Tensor normalized, const at::Tensor& targets) const;  // and this rank's maximum
  void exponentials(HeadActivations& kept) const;
  at::Tensor losses(const HeadActivations& kept) const;  // [tokens]
  // Frees the logits. Returns this rank's part of the gradient at the norm's output.
  at::Tensor product_backward(HeadActivations& kept, const LossFactor& factor) const;
  at::Tensor norm_backward(const HeadActivations& kept, const at::Tensor& gradient) const;

 private:
  at::Tensor projection_backward(HeadActivations& kept, const LossFactor& factor) const;

  std::optional<NormLayer> norm_;
  std::optional<HeadTransform> transform_;
  Leaf weight_, bias_;
  double cap_, factor_;  // of logits: cap tanh(factor l / cap); 0 and 1: as they are
  VocabularyShard vocabulary_;
};

}  // namespace executor
