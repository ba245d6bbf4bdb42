// A block's segment, Attention or Mlp, as LibTorch operators: norm -> in -> middle -> out. What follows (sum over tensor ranks, bias,
// dropout, residual sum) is plain arithmetic without autograd and stands in residual.h, because communication may come between.
//
//   Attention: in = qkv, middle = heads, rotary, causal attention, out = projection        Mlp: in = up (| gate), middle = activation, out = down
//
// Built from ModelGraph's parameters of one layer; holds views of the weights, no activations.
#pragma once

#include <functional>
#include <span>

#include "executor/model/dropout.h"
#include "executor/model/leaf.h"
#include "executor/model/tensor_part.h"
#include "sim/model/model_graph.h"

namespace executor {

struct SegmentLeaves {
  Leaf norm_scale, norm_shift;  // shift and biases: without tensors where the model has none
  Leaf in_weight, in_bias;
  Leaf out_weight, out_bias;
};

class BlockSegment {
 public:
  // scores: dropout of attention's probabilities; the feed-forward network has none.
  using Middle = std::function<at::Tensor(const at::Tensor& joint, const Dropout& scores)>;
  BlockSegment(const sim::ModelConfig& config, SegmentLeaves leaves, Middle middle);

  at::Tensor norm(const at::Tensor& input) const;       // [tokens, hidden]
  // Up to the output product, without its bias: a part of the sum over T.
  at::Tensor core(const at::Tensor& normalized, const Dropout& scores = {}) const;
  at::Tensor whole(const at::Tensor& input,
                   const Dropout& scores = {}) const;  // norm, core and output bias: all that a single tensor rank does
  const Leaf& out_bias() const { return leaves_.out_bias; }

 private:
  at::Tensor into_middle(const at::Tensor& normalized, const Dropout& scores) const;

  sim::Norm norm_;
  double epsilon_;
  SegmentLeaves leaves_;
  Middle middle_;
};

// `leaves` in the order of `parameters`; names tell which is which.
struct LayerParts {
  std::span<const sim::Parameter> parameters;
  std::span<const Leaf> leaves;
};
struct SegmentSettings {
  std::int64_t sequence = 1;
  TensorPosition tensor;
  std::int64_t first_token = 0;  // of this rank's stretch of a microbatch (sequence parallelism)
  bool keeps_scores = true;      // false: attention with dropout computes its probabilities again in the backward
  at::Tensor rotary;             // rotary_table(), shared by all blocks; without a tensor for learned positions
};
BlockSegment make_attention(const sim::ModelConfig& config, const LayerParts& layer, const SegmentSettings& settings);
BlockSegment make_mlp(const sim::ModelConfig& config, const LayerParts& layer);

// The leaf whose parameter's name ends with `suffix`; a leaf without tensors when there is none.
Leaf find_leaf(const LayerParts& layer, std::string_view suffix);

}  // namespace executor
