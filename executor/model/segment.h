// A block's segment, Attention or Mlp: norm -> core, which is in -> middle -> out as LibTorch operators. The norm, and what follows the core (sum over
// tensor ranks, bias, dropout, residual sum), are written out without autograd (norm.h, residual.h), because communication may come between.
//
//   Attention: in = qkv, middle = heads, rotary, causal attention, out = projection        Mlp: in = up (| gate), middle = activation, out = down
//   latent attention: without in, middle = latent_attention.h
//
// Built from ModelGraph's parameters of one layer; holds views of the weights, no activations.
#pragma once

#include <functional>
#include <span>

#include "executor/model/norm.h"
#include "executor/model/tensor_part.h"
#include "executor/model/token_stretches.h"
#include "sim/model/model_graph.h"

namespace executor {

struct SegmentLeaves {      // shift and biases: without tensors where the model has none
  Leaf in_weight, in_bias;  // without tensors where the middle makes its own products
  Leaf out_weight, out_bias;
  Leaf late_bias;  // the output's, where it is added after the sum over tensor ranks
};

class BlockSegment {
 public:
  // scores: dropout of attention's probabilities; the feed-forward network has none.
  using Middle = std::function<at::Tensor(const at::Tensor& joint, const Dropout& scores)>;
  using Joint = std::function<at::Tensor(const at::Tensor& normalized)>;  // without one: `in` alone
  BlockSegment(NormLayer norm, SegmentLeaves leaves, Middle middle, Joint joint = nullptr);

  const NormLayer& norm() const { return norm_; }
  at::Tensor core(const at::Tensor& normalized,
                  const Dropout& scores = {}) const;  // [tokens, hidden]; with tensor ranks a part of their sum
  // The core's two ends, where its middle is made elsewhere (context parallelism): queries, keys and values side by side, and the product behind.
  at::Tensor joint(const at::Tensor& normalized) const;
  at::Tensor out_product(const at::Tensor& mixed) const;
  const Leaf& late_bias() const { return leaves_.late_bias; }

 private:
  at::Tensor in_product(const at::Tensor& normalized) const;

  NormLayer norm_;
  SegmentLeaves leaves_;
  Middle middle_;
  Joint joint_;
};

// `leaves` in the order of `parameters`; names tell which is which.
struct LayerParts {
  std::span<const sim::Parameter> parameters;
  std::span<const Leaf> leaves;
};
struct SegmentSettings {
  std::int64_t sequence = 1;
  std::int64_t tokens = 0;  // of a sample, here; 0: all of them
  TensorPosition tensor;
  TokenStretches stretches = {};  // which tokens of a microbatch the stream holds
  bool keeps_scores = true;       // false: attention with dropout computes its probabilities again in the backward
  at::Tensor rotary;              // rotary_table(), shared by all blocks; without a tensor for learned positions
};
BlockSegment make_attention(const sim::ModelConfig& config, const LayerParts& layer, const SegmentSettings& settings);
BlockSegment make_mlp(const sim::ModelConfig& config, const LayerParts& layer, const SegmentSettings& settings);

// The leaf whose parameter's name ends with `suffix`; a leaf without tensors when there is none.
Leaf find_leaf(const LayerParts& layer, std::string_view suffix);

}  // namespace executor
