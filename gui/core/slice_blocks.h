// A row of slices in blocks, so that a pixel that holds many of them asks a few blocks instead: where a block ends, and its longest slice.
// Two bytes a slice.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gui {

struct SliceBlocks {
  static constexpr std::size_t kSize = 16;
  std::vector<std::int64_t> end;       // of the block's last slice
  std::vector<std::uint32_t> longest;  // position in the row
  std::vector<float> length;           // its

  // Starts and ends of the row's slices.
  struct Row {
    std::span<const std::int64_t> start, end;
  };
  explicit SliceBlocks(const Row& row);
  struct Range {
    std::size_t first = 0, last = 0;  // blocks; last excluded, at least one
  };
  std::uint32_t longestOf(Range blocks) const;
};

}  // namespace gui
