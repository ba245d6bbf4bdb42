// All tokens of some heads instead of some tokens of all heads, and back: how a tensor lies when ranks deal it out in equal chunks (DeepSpeed-Ulysses,
// Jacobs et al. 2023). Rank c's chunk is its heads on the way there, its tokens on the way back.
//
//   rows of this rank   [samples * tokens, (heads + 2 kv_heads) * head_dim]   --by_heads-->    [C, samples, tokens, width / C]    sent
//   rows of its heads   [samples * C * tokens, width / C]                     <--joined_tokens--   received, chunk c: rank c's tokens
//
// kv_heads = 0: of an output of attention, which has queries' heads alone.
#pragma once

#include "executor/model/heads.h"

namespace executor {

struct Dealing {
  HeadShape heads;         // of this rank before the exchange; sequence: its tokens of a sample
  std::int64_t ranks = 1;  // C, divides heads and kv_heads
};
at::Tensor by_heads(const at::Tensor& rows, const Dealing& dealing);
at::Tensor joined_heads(const at::Tensor& chunks, const Dealing& dealing);  // by_heads, undone
at::Tensor by_tokens(const at::Tensor& rows, const Dealing& dealing);      // joined_tokens, undone
at::Tensor joined_tokens(const at::Tensor& chunks, const Dealing& dealing);

}  // namespace executor
