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
    return is_one_ && at_ == text_.size() ? all : std::vector<int>{};
  }

 private:
  bool take(char c) { return at_ < text_.size() && text_[at_] == c && ++at_ > 0; }
  void need(char c) { is_one_ = take(c) && is_one_; }
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
      need(')');
    } else if (take('[')) {
      do all.push_back(static_cast<int>(number())), is_one_ = is_one_ && all.back() <= 1;
      while (take(','));
      need(']');
    }
    return all;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool is_one_ = true;
};

}  // namespace

std::vector<int> pattern_of(Draft& draft, const std::string& key, std::int64_t layers, int (*of_block)(BlockOfMany)) {
  const auto given = draft.said.find(key);
  std::string text = given == draft.said.end() ? "1" : given->second;
  std::erase(text, ' ');
  std::vector<int> pattern = Pattern(text).values();
  std::int64_t every = 0;
  const bool is_number = std::from_chars(text.data(), text.data() + text.size(), every).ptr == text.data() + text.size();
  const std::int64_t blocks = std::clamp<std::int64_t>(layers, 0, kLongestPattern);
  if (is_number && every > 0) {
    pattern.clear();
    for (std::int64_t block = 0; block < blocks; ++block) pattern.push_back(of_block({block, every}));
  }
  if (std::ssize(pattern) == layers) return pattern;
  draft.wrong.push_back({key,
                         pattern.empty()
                             ? fmt::format("is '{}': neither a list of 0 and 1, as ([0]*3+[1]*58), nor every how many blocks", text)
                             : fmt::format("is '{}': {} numbers for {} blocks", text, pattern.size(), layers),
                         "correct it"});
  pattern.resize(count_of(blocks), 1);
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
