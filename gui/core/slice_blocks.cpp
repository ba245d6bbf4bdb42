#include "gui/core/slice_blocks.h"

#include <algorithm>

#include "sim/units/at.h"

namespace gui {

SliceBlocks::SliceBlocks(const Row& row) {
  const std::size_t blocks = (row.start.size() + kSize - 1) / kSize;
  end.reserve(blocks);
  longest.reserve(blocks);
  length.reserve(blocks);
  for (std::size_t first = 0; first < row.start.size(); first += kSize) {
    const std::size_t last = std::min(first + kSize, row.start.size());
    std::size_t best = first;
    for (std::size_t at = first; at < last; ++at)
      if (row.end[at] - row.start[at] > row.end[best] - row.start[best]) best = at;
    end.push_back(row.end[last - 1]);
    longest.push_back(static_cast<std::uint32_t>(best));
    length.push_back(static_cast<float>(row.end[best] - row.start[best]));
  }
}

std::uint32_t SliceBlocks::longestOf(Range blocks) const {
  const auto begin = length.begin();
  const auto best = std::max_element(begin + static_cast<std::ptrdiff_t>(blocks.first), begin + static_cast<std::ptrdiff_t>(blocks.last));
  return sim::at(longest, best - begin);
}

}  // namespace gui
