#include "sim/recipe/block_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace sim {
namespace {

constexpr std::int64_t kLongestPattern = 10'000;

// "([0]*3+[1]*58)": lists, sums and multiples. No values: it is none.
class Pattern {
 public:
  explicit Pattern(std::string_view text) : text_(text) {}
  std::vector<int> values() && {
    std::vector<int> all = sum(0);
    return at_ == text_.size() ? all : std::vector<int>{};
  }

 private:
  bool take(char c) { return at_ < text_.size() && text_[at_] == c && ++at_ > 0; }
  std::int64_t number() {
    std::int64_t value = 0;
    const auto end = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value).ptr;
    at_ = static_cast<std::size_t>(end - text_.data());
    return std::clamp<std::int64_t>(value, 0, kLongestPattern);
  }
  std::vector<int> sum(int depth) {
    std::vector<int> all = product(depth);
    while (take('+')) {
      const std::vector<int> more = product(depth);
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }
  std::vector<int> product(int depth) {
    const std::vector<int> one = list(depth);
    std::vector<int> all = one;
    while (take('*')) {
      const std::vector<int> once = all;
      all.clear();
      for (std::int64_t times = number(); times > 0 && std::ssize(all) < kLongestPattern; --times)
        all.insert(all.end(), once.begin(), once.end());
    }
    return all;
  }
  std::vector<int> list(int depth) {
    std::vector<int> all;
    if (depth < 16 && take('(')) {
      all = sum(depth + 1);
      take(')');
    } else if (take('[')) {
      do all.push_back(static_cast<int>(number()));
      while (take(','));
      take(']');
    }
    return all;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<int> pattern_of(Draft& draft, const std::string& key, std::int64_t layers, int (*of_block)(BlockOfMany)) {
  const std::string* const given = said(draft, key);
  const std::string text = given == nullptr ? "1" : *given;
  std::vector<int> pattern = Pattern(text).values();
  if (text.find('[') == std::string::npos) {
    std::int64_t every = 1;
    std::from_chars(text.data(), text.data() + text.size(), every);
    every = std::max<std::int64_t>(1, every);
    for (std::int64_t block = 0; block < layers; ++block) pattern.push_back(of_block({block, every}));
  }
  if (std::ssize(pattern) != layers) {
    draft.wrong.push_back({key, fmt::format("is '{}': {} numbers for {} blocks", text, pattern.size(), layers), "correct it"});
    pattern.resize(count_of(layers), 1);
  }
  return pattern;
}

std::string pattern_text(const std::vector<int>& pattern) {
  std::string text;
  for (auto at = pattern.begin(), next = at; at != pattern.end(); at = next) {
    next = std::find_if(at, pattern.end(), [&](int one) { return one != *at; });
    text += fmt::format("{}[{}]*{}", text.empty() ? "(" : "+", *at, next - at);
  }
  return text + ")";
}

}  // namespace sim
