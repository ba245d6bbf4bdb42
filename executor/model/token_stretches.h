// Which tokens of a microbatch a rank holds, where ranks share its samples (context parallelism) or its rows (sequence parallelism): stretches of
// tokens that follow each other in the microbatch. Positions, dropout masks and batches are named by them, so that no number depends on the cut.
//
//   C = 2, mirrored     sample   | 0 | 1 | 2 | 3 |     rank 0: pieces 0 and 3, rank 1: pieces 1 and 2       (the same work under a causal mask)
//   C = 2               sample   |   0   |   1   |     rank 0: piece 0, rank 1: piece 1
#pragma once

#include <cstdint>
#include <vector>

namespace executor {

struct TokenStretch {
  std::int64_t begin = 0;  // among this rank's rows
  std::int64_t first = 0;  // in the microbatch: sample * sequence + position
  std::int64_t count = 0;
  bool operator==(const TokenStretch&) const = default;
};
using TokenStretches = std::vector<TokenStretch>;  // without gaps among this rank's rows

struct ContextCut {
  std::int64_t samples = 1, sequence = 1;  // of a microbatch
  std::int64_t ranks = 1, rank = 0;
  bool is_mirrored = false;
};
TokenStretches tokens_of(const ContextCut& cut);

// Rows [begin, begin + count) of those, counted from 0.
struct RowRange {
  std::int64_t begin = 0, count = 0;
};
TokenStretches rows_of(const TokenStretches& stretches, RowRange rows);

}  // namespace executor
