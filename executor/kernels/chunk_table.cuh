// Many ranges of flat memory in one launch: cut into chunks of equal length, which blocks take in turn. The table travels with the kernel's
// parameters (4 KB at most), so nothing is copied to the device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "executor/kernels/vector_target.h"

namespace executor {

// Range: has `begin` and `end`, elements of the memory.
template <class Range>
struct ChunkTable {
  static constexpr int kMost = 96;

  Range ranges[kMost];
  std::int64_t first_chunk[kMost + 1];  // of each range; the last entry is the number of chunks
  int count;

  // Takes ranges off the front of `rest`, as many as a table holds.
  static ChunkTable take(std::span<const Range>& rest, std::int64_t chunk) {
    ChunkTable table{};
    const std::size_t taken = std::min<std::size_t>(rest.size(), kMost);
    for (const Range& range : rest.first(taken)) {
      table.ranges[table.count] = range;
      table.first_chunk[table.count + 1] = table.first_chunk[table.count] + (range.end - range.begin + chunk - 1) / chunk;
      ++table.count;
    }
    rest = rest.subspan(taken);
    return table;
  }

  MESHWRIGHT_INLINE std::int64_t chunks() const { return first_chunk[count]; }
};

}  // namespace executor
