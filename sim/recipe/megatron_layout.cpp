#include "sim/recipe/megatron_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace sim {
namespace {

constexpr std::int64_t kMostBlocks = 10'000;

// The same, and what people write: commas, (t|)*3, ttt. Parentheses do not nest there either.
std::string unrolled(std::string layout) {
  std::erase(layout, '\\');  // escaped once more for a shell
  std::string text;
  for (std::size_t at = 0; at < layout.size() && std::ssize(text) < 4 * kMostBlocks;) {
    const std::size_t close = layout[at] == '(' ? std::min(layout.find(')', at), layout.size() - 1) : at;
    const std::string part = layout[at] == '(' ? layout.substr(at + 1, close - at - 1) : std::string(1, layout[at]);
    std::int64_t times = 1;
    at = close + 1;
    if (at < layout.size() && layout[at] == '*') {
      const char* const end = std::from_chars(layout.data() + at + 1, layout.data() + layout.size(), times).ptr;
      at = static_cast<std::size_t>(end - layout.data());
    }
    for (std::int64_t time = 0; time < std::clamp<std::int64_t>(times, 0, kMostBlocks); ++time) text += part;
  }
  return text;
}

}  // namespace

std::string layout_text(const ParallelPlan& plan) {
  std::vector<std::string> parts;
  for (const std::int64_t blocks : blocks_of(plan)) parts.push_back(blocks == 0 ? "" : fmt::format("t*{}", blocks));
  return fmt::format("E{}L", fmt::join(parts, "|"));
}

void read_layout(const Value& value, Draft& draft) {
  draft.blocks = {0};
  std::int64_t further = 0;
  for (const char c : unrolled(value.text())) {
    if (c == '|')
      draft.blocks.push_back(0);
    else if (c == 't')
      ++draft.blocks.back();
    else if (c == 'm')
      ++further;
    else if (c != 'E' && c != 'L' && c != ',')
      return value.wrong(fmt::format("has a '{}'; a plan knows E, t and L", c), "leave other layers out");
  }
  if (further > 0)
    value.lost(fmt::format("places {} layers that predict further tokens; the plan has none", further), "mind their time and memory");
  const auto parts = std::ssize(draft.blocks);
  if (parts % draft.plan.mesh.pipeline == 0) draft.plan.chunks = static_cast<std::int32_t>(parts / draft.plan.mesh.pipeline);
}

}  // namespace sim
