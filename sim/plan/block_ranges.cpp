#include "sim/plan/block_ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/units/number_text.h"

namespace sim {
namespace {

constexpr std::int32_t kBlockNumbers = 1'000'000;  // beyond any network: a slip of the pen

std::optional<std::int32_t> block_in(std::string_view text) { return number_in<std::int32_t>(text, 0, kBlockNumbers - 1); }

std::optional<BlockRange> range_in(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = block_in(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : block_in(text.substr(dash + 1));
  return first && last && *first <= *last ? std::optional(BlockRange{*first, *last}) : std::nullopt;
}

// Those that touch are one.
BlockRanges joined(BlockRanges ranges) {
  std::ranges::sort(ranges, {}, &BlockRange::first);
  BlockRanges apart;
  for (const BlockRange& range : ranges)
    if (!apart.empty() && range.first <= apart.back().last + 1)
      apart.back().last = std::max(apart.back().last, range.last);
    else
      apart.push_back(range);
  return apart;
}

}  // namespace

std::string to_text(const BlockRanges& ranges) {
  std::string text;
  for (const BlockRange& range : ranges) {
    text += fmt::format("{}{}", text.empty() ? "" : ",", range.first);
    if (range.last > range.first) text += fmt::format("-{}", range.last);
  }
  return text;
}

std::optional<BlockRanges> parse_block_ranges(std::string_view text) {
  BlockRanges ranges;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto range = range_in(text.substr(begin, end - begin));
    if (!range) return std::nullopt;
    ranges.push_back(*range);
    begin = end + 1;
  }
  return joined(std::move(ranges));
}

BlockRanges blocks_at(BlockEnds ends, std::int64_t blocks) {
  const std::int64_t first = std::clamp<std::int64_t>(ends.first, 0, blocks),
                     behind = std::max(first, blocks - std::max<std::int64_t>(0, ends.last));
  BlockRanges ranges;
  const auto add = [&](std::int64_t begin, std::int64_t end) {
    if (begin < end) ranges.push_back({static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end - 1)});
  };
  add(0, first);
  add(behind, blocks);
  return joined(std::move(ranges));
}

std::optional<BlockEnds> ends_in(const BlockRanges& ranges, std::int64_t blocks) {
  BlockEnds ends;
  for (const BlockRange& range : ranges) {
    const std::int64_t count = range.last - range.first + 1;
    if (range.first == 0)
      ends.first = count;
    else if (range.last + 1 == blocks)
      ends.last = count;
    else
      return std::nullopt;
  }
  return ends;
}

}  // namespace sim
