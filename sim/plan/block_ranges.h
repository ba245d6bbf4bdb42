// Blocks of a network by their numbers, from 0, as names of weights count them: "0-1,30". One value with one text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sim {

struct BlockRange {
  std::int32_t first = 0, last = 0;  // both are in it
  bool has(std::int64_t block) const { return first <= block && block <= last; }
  bool operator==(const BlockRange&) const = default;
};
using BlockRanges = std::vector<BlockRange>;  // in order, and apart from each other by a block at least

inline bool has(const BlockRanges& ranges, std::int64_t block) {
  for (const BlockRange& range : ranges)
    if (range.has(block)) return true;
  return false;
}
std::string to_text(const BlockRanges& ranges);
std::optional<BlockRanges> parse_block_ranges(std::string_view text);  // in any order; nothing: no such list

// How many of the first and of the last blocks, where no others are meant.
struct BlockEnds {
  std::int64_t first = 0, last = 0;
};
BlockRanges blocks_at(BlockEnds ends, std::int64_t blocks);
std::optional<BlockEnds> ends_in(const BlockRanges& ranges, std::int64_t blocks);  // nothing: others are among them

}  // namespace sim
