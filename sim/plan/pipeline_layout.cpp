#include "sim/plan/pipeline_layout.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace sim {
namespace {

constexpr std::int64_t kMostLetters = 40'000;

// What stands in parentheses is unrolled before it is repeated.
std::string unrolled(std::string_view layout, bool in_group = false) {
  std::string text;
  for (std::size_t at = 0; at < layout.size() && std::ssize(text) < kMostLetters;) {
    const bool is_group = !in_group && layout[at] == '(';
    const std::size_t close = is_group ? std::min(layout.find(')', at), layout.size() - 1) : at;
    const std::string part = is_group ? unrolled(layout.substr(at + 1, close - at - 1), true) : std::string(1, layout[at]);
    std::int64_t times = 1;
    at = close + 1;
    if (at < layout.size() && layout[at] == '*') {
      const char* const end = std::from_chars(layout.data() + at + 1, layout.data() + layout.size(), times).ptr;
      at = static_cast<std::size_t>(end - layout.data());
    }
    const std::int64_t most = kMostLetters / std::max<std::int64_t>(1, std::ssize(part));
    for (std::int64_t time = 0; time < std::clamp<std::int64_t>(times, 0, std::min(most, kMostLetters)); ++time) text += part;
  }
  return text;
}

}  // namespace

PipelineLayout parse_pipeline_layout(const std::string& text) {
  std::string plain = text;
  std::erase(plain, '\\');
  PipelineLayout layout{.blocks = {0}};
  for (const char c : unrolled(plain)) {
    if (c == '|')
      layout.blocks.push_back(0);
    else if (c == 't')
      ++layout.blocks.back();
    else if (c == 'm')
      layout.last_further = layout.blocks.size() - 1,
      layout.first_further = layout.further++ == 0 ? layout.last_further : layout.first_further;
    else if (c != 'E' && c != 'L' && c != ',') {
      layout.unknown = c;
      break;
    }
  }
  return layout;
}

}  // namespace sim
