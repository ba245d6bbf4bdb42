// Attention of queries over a block of keys and values: what it gives on its own, and how it joins that over other blocks. Where context ranks
// share a sample, no rank sees all keys at once. Outside autograd, both directions written out; no probabilities are kept.
//
//   o_b = softmax(q k_b^T / sqrt(d)) v_b     l_b = log sum exp(q k_b^T / sqrt(d))
//   merged       l = log(e^l1 + e^l2)        o = e^(l1 - l) o1 + e^(l2 - l) o2             (Liu et al. 2023, Ring Attention; Dao 2023)
//   backward     of the merged o and l each block's P_b = e^(q k_b^T / sqrt(d) - l): its gradients need no other block
#pragma once

#include "executor/model/heads.h"

namespace executor {

enum class BlockMask : std::uint8_t { None, Causal };  // Causal: as many queries as keys, at the same positions
struct ScoreWidth {
  double value = 0;  // scores are divided by its root; 0: the width of a key
  double scale(const HeadOperands& operands) const;
};

struct BlockScores {
  at::Tensor output;       // [samples, tokens, heads, value_dim]
  at::Tensor log_sum_exp;  // [samples, tokens, heads], at least fp32
};

// queries [samples, tokens, heads, head_dim], keys [samples, keys, kv_heads, head_dim], values [samples, keys, kv_heads, value_dim], any strides but for
// the last dimension's. On a CPU the fused kernel, which knows of grouped heads and wants one width: the narrower operand is filled with zeros. On
// GPUs flash attention, of 16-bit numbers; elsewhere LibTorch's operators, which make one matrix of scores.
BlockScores attend_block(const HeadOperands& operands, BlockMask mask, ScoreWidth width = {});
struct MergedScores {
  BlockScores scores;
  at::Tensor output_gradient;  // like scores.output
};
// The gradients of these queries, keys and values, in their shapes.
HeadOperands block_gradients(const HeadOperands& operands, const MergedScores& merged, BlockMask mask, ScoreWidth width = {});

// `into` over one set of keys becomes that over both; of `into.output` the type is kept.
void merge_scores(const BlockScores& into, const BlockScores& block);

}  // namespace executor
