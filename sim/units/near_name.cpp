#include "sim/units/near_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <numeric>
#include <utility>

namespace sim {
namespace {

constexpr std::size_t kShortestWord = 3, kSlip = 2;  // letters; edits
constexpr std::size_t kLongestName = 100;            // what is longer is no name, and its distances cost the square of it

std::size_t edit_distance(std::string_view a, std::string_view b) {  // Levenshtein, one row
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row.back();
}

// `--batch` of `--global-batch`: one of the words that dashes join.
bool has_word(std::string_view name, std::string_view asked) {
  const std::size_t at = name.find(asked);
  if (asked.size() < kShortestWord || at == std::string_view::npos) return false;
  const auto is_end = [&](std::size_t place) { return place >= name.size() || name[place] == '-' || name[place] == '_'; };
  return is_end(at + asked.size()) && (at == 0 || is_end(at - 1));
}

bool is_of_a_word(unsigned char c) { return std::isalnum(c) != 0 || c == '.'; }

// "A100-SXM4-80GB": a100, sxm4, 80gb.
std::vector<std::string> words_in(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name)
    if (is_of_a_word(static_cast<unsigned char>(c)))
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!words.back().empty())
      words.emplace_back();
  if (words.back().empty()) words.pop_back();
  return words;
}

std::string joined(std::string_view name) { return fmt::format("{}", fmt::join(words_in(name), "")); }

// The same word, or a later kind of it: sxm4 of sxm.
bool is_kind_of(std::string_view asked, std::string_view word) {
  return asked.starts_with(word) && asked.find_first_not_of("0123456789", word.size()) == std::string_view::npos &&
         (asked.size() == word.size() || std::isalpha(static_cast<unsigned char>(word.back())) != 0);
}

std::ptrdiff_t shared_words(const std::vector<std::string>& asked, std::string_view name) {
  const std::vector<std::string> words = words_in(name);
  return std::ranges::count_if(asked, [&](const std::string& one) {
    return std::ranges::any_of(words, [&](const std::string& word) { return is_kind_of(one, word); });
  });
}

std::vector<std::string> chosen(std::span<const std::string> known, const std::function<bool(const std::string&)>& is_near) {
  std::vector<std::string> names;
  std::copy_if(known.begin(), known.end(), std::back_inserter(names), is_near);
  return names;
}

// Names with the most words of `asked`: all of them, or at least two and half of them.
std::vector<std::string> sharing(std::string_view asked, std::span<const std::string> known) {
  const std::vector<std::string> words = words_in(asked);
  std::ptrdiff_t most = 0;
  for (const std::string& name : known) most = std::max(most, shared_words(words, name));
  const bool is_enough = most == std::ssize(words) || (most >= 2 && 2 * most >= std::ssize(words));
  if (most == 0 || !is_enough) return {};
  return chosen(known, [&](const std::string& name) { return shared_words(words, name) == most; });
}

}  // namespace

std::vector<std::string> near_names(std::string_view asked, std::span<const std::string> known) {
  if (asked.empty() || asked.size() > kLongestName) return {};
  std::vector<std::string> begun = chosen(known, [&](const std::string& name) { return name.starts_with(asked); });
  if (!begun.empty()) return begun;
  const std::string_view word = asked.substr(std::min(asked.find_first_not_of('-'), asked.size()));
  std::vector<std::string> holding = chosen(known, [&](const std::string& name) { return has_word(name, word); });
  if (!holding.empty()) return holding;
  const std::string together = joined(asked);
  std::vector<std::string> without_dashes = chosen(known, [&](const std::string& name) { return joined(name).starts_with(together); });
  if (together.size() >= kShortestWord && !without_dashes.empty()) return without_dashes;
  const auto distance = [&](const std::string& name) { return edit_distance(asked, name); };
  const auto nearest =
      std::min_element(known.begin(), known.end(), [&](const std::string& a, const std::string& b) { return distance(a) < distance(b); });
  const std::size_t least = nearest == known.end() ? kLongestName : distance(*nearest);
  if (least > kSlip && together.size() >= kShortestWord)
    if (std::vector<std::string> sharers = sharing(asked, known); !sharers.empty()) return sharers;
  if (2 * least > word.size()) return {};
  return {*nearest};
}

std::string near_name_remedy(std::string_view asked, std::span<const std::string> known, std::string otherwise) {
  const std::vector<std::string> near = near_names(asked, known);
  if (near.empty()) return otherwise;
  if (near.size() == 1) return fmt::format("did you mean {}?", near.front());
  return fmt::format("did you mean {} or {}?", fmt::join(near.begin(), near.end() - 1, ", "), near.back());
}

}  // namespace sim
