#include "executor/model/token_stretches.h"

#include <algorithm>

namespace executor {

TokenStretches tokens_of(const ContextCut& cut) {
  if (cut.ranks == 1) return {{.begin = 0, .first = 0, .count = cut.samples * cut.sequence}};
  const std::int64_t pieces = cut.is_mirrored ? 2 * cut.ranks : cut.ranks, length = cut.sequence / pieces;
  TokenStretches stretches;
  const auto add = [&](std::int64_t sample, std::int64_t piece) {
    const std::int64_t begin = stretches.empty() ? 0 : stretches.back().begin + length;
    stretches.push_back({.begin = begin, .first = sample * cut.sequence + piece * length, .count = length});
  };
  for (std::int64_t sample = 0; sample < cut.samples; ++sample) {
    add(sample, cut.rank);
    if (cut.is_mirrored) add(sample, pieces - 1 - cut.rank);
  }
  return stretches;
}

TokenStretches rows_of(const TokenStretches& stretches, RowRange rows) {
  TokenStretches inside;
  for (const TokenStretch& stretch : stretches) {
    const std::int64_t begin = std::max(stretch.begin, rows.begin), end = std::min(stretch.begin + stretch.count, rows.begin + rows.count);
    if (begin < end) inside.push_back({.begin = begin - rows.begin, .first = stretch.first + begin - stretch.begin, .count = end - begin});
  }
  return inside;
}

}  // namespace executor
