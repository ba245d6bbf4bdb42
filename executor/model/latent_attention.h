// Multi-head latent attention (DeepSeek-V2, 2024): queries come by way of a narrow vector, keys and values of all heads by way of another. A part of each
// key, one for all heads, carries the position. Between the segment's norm and its output projection; each step recorded by autograd.
//
//   q = norm(x Wqd) Wqu, a head: [nope | rope]              without a narrow vector of queries: q = x Wq
//   c | r = x Wkd       k | v = norm(c) Wku                 a head's key: [k | turned r]; positions turn neighbours (2i, 2i + 1)
//
// What leads down and its norms is whole on every tensor rank, which has a part of its gradient: that of its heads.
#pragma once

#include "executor/model/attention.h"
#include "executor/model/norm.h"
#include "executor/model/segment.h"
#include "sim/model/attention_form.h"

namespace executor {

struct LatentProjections {
  sim::AttentionForm form;
  std::int64_t heads = 1;  // of this tensor rank
  std::int64_t sequence = 1;
  double score_scale = 1;  // beside 1 / sqrt(key width); queries carry it
  Leaf q;                  // where queries are projected directly; else q_down, q_norm, q_up
  Leaf q_down, q_norm, q_up;
  Leaf kv_down, kv_norm, kv_up;
};
LatentProjections latent_projections(const sim::ModelConfig& config, const LayerParts& layer, const SegmentSettings& settings);

// [tokens, hidden] -> q, k [samples, heads, sequence, key width], v [samples, heads, sequence, v_dim], each filled with zeros up to `widths`.
// rotary: rotary_table() of qk_rope numbers.
struct OperandWidths {
  std::int64_t key = 0, value = 0;
};
HeadOperands latent_heads(const LatentProjections& layer, const at::Tensor& normalized, const at::Tensor& rotary,
                          const OperandWidths& widths, const Documents& positions = {});

// What the fused kernel of a device takes: on a CPU one width alone, for keys and values.
OperandWidths fused_widths(const LatentProjections& layer, const at::Tensor& input);

// Where context ranks share a sample: queries, keys and values side by side in the rows of a joint tensor, positions in them; and attention on such
// rows of all tokens of some heads, as wide as keys and values are.
at::Tensor latent_joint(const LatentProjections& layer, const at::Tensor& normalized, const at::Tensor& rotary);
at::Tensor latent_mixed(const at::Tensor& joint, const HeadShape& heads, const Documents& documents = {});

// The whole of it: [tokens, hidden] -> [tokens, heads * v_dim].
at::Tensor latent_attention(const LatentProjections& layer, const at::Tensor& normalized, const at::Tensor& rotary, const ScoreForm& masks,
                            const CoreInputs& inputs);

}  // namespace executor
