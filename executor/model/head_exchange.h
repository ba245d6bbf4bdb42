// All tokens of some heads instead of some tokens of all heads, and back: how a tensor lies when ranks deal it out in equal chunks (DeepSpeed-Ulysses,
// Jacobs et al. 2023). Rank c's chunk is its heads on the way there, its tokens on the way back.
//
//   rows of this rank   [samples * tokens, width]             --by_heads-->        [C, samples, tokens, width / C]    sent
//   rows of its heads   [samples * C * tokens, width / C]     <--joined_tokens--   received, chunk c: rank c's tokens
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace executor {

struct Dealing {
  std::vector<std::int64_t> columns;  // of queries, keys, values: heads side by side, each divided by C. Of an output of attention: one
  std::int64_t tokens = 1;            // of a sample, here
  std::int64_t ranks = 1;             // C
  // A rank's tokens are a piece of the front and one of the back, the first rank's outermost; else ranks stand in order.
  //   front 0 | front 1 | back 1 | back 0        joined, of two ranks
  bool is_mirrored = false;
};
at::Tensor by_heads(const at::Tensor& rows, const Dealing& dealing);
at::Tensor joined_heads(const at::Tensor& chunks, const Dealing& dealing);  // by_heads, undone
at::Tensor by_tokens(const at::Tensor& rows, const Dealing& dealing);       // joined_tokens, undone
at::Tensor joined_tokens(const at::Tensor& chunks, const Dealing& dealing);

}  // namespace executor
