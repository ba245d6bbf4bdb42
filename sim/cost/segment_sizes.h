// Tokens and widths of a segment on one rank, from which its memory follows.
#pragma once

#include "sim/plan/parallel_plan.h"

namespace sim {

struct SegmentSizes {
  std::int64_t tokens, local_tokens;  // local: of the parts that sequence parallelism divides
  Bytes normalized{};                 // of a norm's output, as it is kept
  std::int64_t sequence;
  std::int64_t query, key_value, output, heads, ffn, vocabulary;  // key_value: of keys and values together
  std::int64_t window;                                            // of the segment's attention
  Bytes element, statistic;
  bool keeps_first,
      keeps_last;  // inputs of the segment's first and last products: for gradients of their weights, or of adapters beside them
  Bytes elements(std::int64_t width) const { return element * (tokens * width); }
};

// Experts cut by a degree of their own, without shared ones: tokens go to them as tensor ranks have them, and nothing is gathered.
bool routes_parts(const ParallelPlan& plan, const SegmentGraph& segment);
SegmentSizes segment_sizes(const ModelGraph& model, const ParallelPlan& plan, const SegmentGraph& segment);

}  // namespace sim
