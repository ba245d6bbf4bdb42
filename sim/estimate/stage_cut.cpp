#include "sim/estimate/stage_cut.h"

#include <algorithm>

namespace sim {
namespace {

// `total` over `parts`, as even as it goes; what is left over goes to the middle, away from embedding and head.
std::vector<std::int64_t> even_counts(std::int64_t total, std::size_t parts) {
  const auto n = static_cast<std::int64_t>(parts);
  std::vector<std::int64_t> counts(parts, total / n);
  const std::int64_t left = total % n, begin = (n - left) / 2;
  for (std::int64_t at = 0; at < left; ++at) ++counts[static_cast<std::size_t>(begin + at)];
  return counts;
}

std::vector<std::int64_t> block_counts(const Network& network, const Layout& layout) {
  const auto parts = static_cast<std::size_t>(layout.pipeline * layout.chunks);
  if (layout.cut == CutKind::Balance && layout.balance.size() == parts) return layout.balance;
  const bool ends_lighter = layout.cut == CutKind::EndsAsLayers || layout.cut == CutKind::FirstLastMinusOne;
  if (!ends_lighter || parts < 2) return even_counts(network.layers, parts);
  std::vector<std::int64_t> counts = even_counts(network.layers + 2, parts);
  for (std::int64_t* count : {&counts.front(), &counts.back()}) *count = std::max<std::int64_t>(0, *count - 1);
  return counts;
}

}  // namespace

std::vector<StageBlocks> cut_stages(const Network& network, const Layout& layout) {
  std::vector<StageBlocks> stages;
  std::int64_t first = 0;
  for (const std::int64_t count : block_counts(network, layout)) {
    stages.push_back({first, count, false, false});
    first += count;
  }
  stages.front().embedding = stages.back().head = true;
  return stages;
}

}  // namespace sim
