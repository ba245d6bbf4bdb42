// What stands in front of the projection in the head of masked language modelling: a product, an activation and a norm (Devlin et al. 2018, section A.1).
// Where the token table is narrower than the stream, the product to its width alone. Every tensor rank has all of it; behind it each has a part of the
// vocabulary, so that its gradients are parts of sums over tensor ranks.
#pragma once

#include <optional>

#include "executor/model/norm.h"
#include "executor/model/piece.h"
#include "executor/model/segment.h"

namespace executor {

struct HeadTransformActivations {
  Piece product;  // with its activation
  NormActivations norm;
};

class HeadTransform {
 public:
  HeadTransform(const sim::ModelConfig& config, const LayerParts& layer);

  // [tokens, hidden] -> [tokens, hidden, or the table's width]
  at::Tensor forward(HeadTransformActivations& kept, const at::Tensor& input) const;
  at::Tensor backward(HeadTransformActivations& kept, const at::Tensor& gradient) const;

 private:
  Leaf weight_, bias_;
  std::optional<sim::Activation> activation_;
  std::optional<NormLayer> norm_;
};

// Where the network has one.
std::optional<HeadTransform> find_head_transform(const sim::ModelConfig& config, const LayerParts& layer);

}  // namespace executor
