// Sparse attention (DeepSeek-AI, "DeepSeek-V3.2", 2025): an indexer of small heads scores every token in front of a query, and latent attention goes to
// the best of them alone. Keys are the latent vectors themselves, which all heads share: what leads up to a head's keys is multiplied into its queries,
// and what leads up to its values into the output.
//
//   narrow queries -> index_q \                                                     chosen tokens
//   stream -> index_k, norm ---> turned -> scores of all pairs, relu, weighted sum of heads -> best `topk` -> attention to these
//   stream -> index_weights --/
//
// The indexer reads the stream without handing a gradient back: it learns from the divergence between its scores and attention's, over chosen tokens.
// A field of AttentionForm.
#pragma once

#include <cstdint>

#include "sim/units/quantity.h"

namespace sim {

struct Indexer {
  std::int64_t heads = 0, width = 0, topk = 0;  // topk: tokens that a query attends to; 0: all, and no indexer
  std::int64_t queries() const { return heads * width; }
  std::int64_t made() const { return queries() + width + heads; }  // numbers a token: queries, the key that heads share, weights of heads
  bool operator==(const Indexer&) const = default;
};

// One rank's part of a layer. key, value: of a head's products with a token: of the latent vector with its turned part, and of that vector.
struct SparseAttention {
  std::int64_t samples = 0, heads = 0, sequence = 0, key = 0, value = 0, topk = 0;
};
struct IndexScores {
  std::int64_t samples = 0, heads = 0, sequence = 0, width = 0, topk = 0;
};
// Pairs of a query and a token that it attends to, in a sample: all before it, and `topk` at most.
struct Choice {
  std::int64_t sequence = 0, topk = 0;
};
double chosen_pairs(const Choice& choice);

// Multiply-adds count 2. A backward has five products: scores again, and gradients of values, weights, queries and keys.
Flops sparse_flops(const SparseAttention& shape, bool backward);
Bytes sparse_bytes(const SparseAttention& shape, Bytes element_size, bool backward);
// Forward: of all pairs, whose scores are written in fp32 and read by the choice. Backward: three products of the chosen pairs.
Flops index_flops(const IndexScores& shape, bool backward);
Bytes index_bytes(const IndexScores& shape, Bytes element_size, bool backward);

}  // namespace sim
