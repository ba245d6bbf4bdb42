// Causal attention, recorded by autograd. Without dropout LibTorch's fused kernel, which keeps no probabilities. With dropout of the
// probabilities our own loop over samples and heads, because the mask must be the same under every layout: an element of it is named by
// (sample, head of the whole model, query, key).
//
//   P = softmax(q k^T / sqrt(d)), lower triangle      out = dropout(P) v
//   dv = dropout(P)^T do     dP = dropout(do v^T)     dS = P (dP - rowsum(dP P)) / sqrt(d)     dq = dS k     dk = dS^T q
#pragma once

#include "executor/model/dropout.h"
#include "executor/model/heads.h"

namespace executor {

struct AttentionMasks {
  std::int64_t heads = 1;       // of the whole model
  std::int64_t first_head = 0;  // this tensor rank's
  bool keeps_scores = true;     // P is kept for the backward; else computed again there (selective recomputation)
};

// q, k, v [samples, heads here, sequence, head_dim] -> [samples * sequence, heads here * head_dim]. With dropout values may be of another width.
// dropout.first_element: of the first sample's mask, that is sample * heads * sequence * sequence.
at::Tensor causal_attention(const HeadOperands& operands, const AttentionMasks& masks, const Dropout& dropout);

}  // namespace executor
