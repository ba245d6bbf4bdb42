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
#include "executor/model/score_form.h"

namespace executor {

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
