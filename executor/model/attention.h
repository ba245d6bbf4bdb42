// Attention, recorded by autograd. Where scores are softmaxed as they are, LibTorch's fused kernel, which keeps no probabilities. Else our own loop
// over samples and heads: with dropout of the probabilities, because the mask must be the same under every layout (an element of it is named by
// sample, head of the whole model, query, key; on a GPU by dropped_attention.h); and with windows, caps, sinks or slopes, of which the kernel does not
// know.
//
//   S = q k^T / sqrt(d)   S' = cap tanh(S / cap)   P = softmax(S' + slope * position of the key + bias of the distance, sink | of the keys in sight)   out = dropout(P) v
//   dv = dropout(P)^T do     dP = dropout(do v^T)     dS' = P (dP - rowsum(dP P))     dS = dS' (1 - (S' / cap)^2) / sqrt(d)
//   dq = dS k     dk = dS^T q     dsink = - sum of (1 - rowsum(P)) rowsum(dP P)
//
//   in sight of query i with a window of 3:   i-2 i-1 i, and in an encoder   i-1 i i+1
#pragma once

#include <initializer_list>
#include <optional>

#include "executor/model/dropout.h"
#include "executor/model/heads.h"
#include "executor/model/leaf.h"

namespace executor {

struct ScoreForm {
  std::int64_t heads = 1;       // of the whole model
  std::int64_t first_head = 0;  // this tensor rank's
  bool keeps_scores = true;     // dropped P is kept for the backward; else computed again there (selective recomputation)
  bool is_again = false;        // the fused kernel keeps its operands alone, and runs once more in the backward
  bool is_causal = true;
  std::int64_t window = 0;      // keys in sight of a query, its own included; 0: all
  double scale = 0;             // scores are divided by its root; 0: the width of a key
  double cap = 0;               // 0: none
  at::Tensor slopes = {};       // ALiBi (Press et al. 2022): [heads here], or no tensor
  Leaf sinks = {};              // [heads]: a score beside those of keys, which gives nothing; or no tensors
  std::int64_t first_sink = 0;  // of the first head here: context ranks deal out the heads of a tensor rank
  Leaf distances = {};          // [heads here, columns]: biases by distance, or no tensors; which column, [queries, keys] (distances.h):
  at::Tensor columns = {};
  Documents documents = {};  // of the samples: a query sees keys of its own alone. By our own loop: see document_attention.h

  std::int64_t reach() const {
    return is_causal ? window : (window + 1) / 2;
  }  // of a window: keys in sight on one side, the own one included
  bool sees_all_behind(std::int64_t sequence) const { return window == 0 || reach() >= sequence; }
  bool knows_kernel(std::int64_t sequence) const;     // scores as the fused kernel makes them
  at::Tensor capped(const at::Tensor& scores) const;  // in their place
  void through_cap(const at::Tensor& slope,
                   const at::Tensor& of_capped) const;  // of S' to that of S; overwrites both, of_capped: S' of a cap
  at::Tensor dealt_sinks(const at::Tensor& all, std::int64_t count) const { return all.narrow(0, first_sink, count); }  // of the heads here
};

// q, k, v [samples, heads here, sequence, head_dim] -> [samples * sequence, heads here * head_dim]. With dropout values may be of another width.
// dropout.first_element: of the first sample's mask, that is sample * heads * sequence * sequence.
at::Tensor attend_heads(const HeadOperands& operands, const ScoreForm& form, const Dropout& dropout);

// The same as heads, by the fused kernel; is_again: see ScoreForm.
struct FusedForm {
  bool is_causal = true, is_grouped = false, is_again = false;
  std::optional<double> scale = {};
};
at::Tensor attend_fused(const HeadOperands& operands, const FusedForm& form);

// To the host (saved_tensors.h): what attention, and the product behind it, save.
void offer_saved(const HeadOperands& operands, std::initializer_list<at::Tensor> outputs);

// The slopes of heads [first, first + count) of so many.
struct HeadRange {
  std::int64_t first = 0, count = 1;
};
at::Tensor alibi_slopes(std::int64_t heads, HeadRange range, at::TensorOptions options);

}  // namespace executor
