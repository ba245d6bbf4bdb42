// Tokens and widths of a segment on one rank, from which its memory follows.
#pragma once

#include "sim/plan/parallel_plan.h"

namespace sim {

struct SegmentSizes {
  std::int64_t tokens, local_tokens;                              // local: of the parts that sequence parallelism divides
  std::int64_t key_tokens;                                        // whose keys and values attention reads
  Bytes normalized{};                                             // of a norm's output, as it is kept
  Bytes rows{};                                                   // of the stream that it changes, and this rank has
  std::int64_t queries, sequence;                                 // of a sample: rows of its scores, and columns
  std::int64_t query, key_value, output, heads, ffn, vocabulary;  // key_value: of keys and values together
  std::int64_t window;                                            // of the segment's attention
  Heads head;                                                     // of the segment's attention, of all tensor ranks
  bool is_causal;                                                 // of its attention
  bool reads_source;                                              // whose keys and values are not made of its own rows
  Bytes element, statistic;
  bool keeps_first,
      keeps_last;  // inputs of the segment's first and last products: for gradients of their weights, or of adapters beside them
  std::int64_t narrow_read = 0;  // of latent attention's narrow vectors: widths of those that are inputs for such gradients
  double rounded = 1;            // what a product has read, as it is kept for its weight's gradient: of its bytes as the stream has them
  Bytes elements(std::int64_t width) const { return element * (tokens * width); }
  Bytes read(Bytes whole) const { return scaled(whole, rounded); }
  Bytes read(std::int64_t width) const { return read(elements(width)); }
  Bytes operands() const { return element * (tokens * query + key_tokens * key_value); }  // queries, keys, values
};

// Experts cut by a degree of their own, without shared ones: tokens go to them as tensor ranks have them, and nothing is gathered.
bool routes_parts(const ParallelPlan& plan, const SegmentGraph& segment);
SegmentSizes segment_sizes(const ModelGraph& model, const ParallelPlan& plan, const SegmentGraph& segment);
// Of all tokens: those that a segment leaves as they are go with it.
Bytes stream_of(const ParallelPlan& plan);
// Of the largest product's weight; of experts one's.
Bytes largest_weight(const SegmentSizes& size, const SegmentGraph& segment, const DeviceMesh& mesh);

}  // namespace sim
