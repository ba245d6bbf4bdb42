#include "sim/units/near_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace sim {
namespace {

constexpr std::size_t kLongestName = 100;  // what is longer is no name, and its distances cost the square of it

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
  if (asked.size() < 3 || at == std::string_view::npos) return false;
  const auto is_end = [&](std::size_t place) { return place >= name.size() || name[place] == '-' || name[place] == '_'; };
  return is_end(at + asked.size()) && (at == 0 || is_end(at - 1));
}

std::vector<std::string> chosen(std::span<const std::string> known, const std::function<bool(const std::string&)>& is_near) {
  std::vector<std::string> names;
  std::copy_if(known.begin(), known.end(), std::back_inserter(names), is_near);
  return names;
}

}  // namespace

std::vector<std::string> near_names(std::string_view asked, std::span<const std::string> known) {
  if (asked.empty() || asked.size() > kLongestName) return {};
  const std::vector<std::string> begun = chosen(known, [&](const std::string& name) { return name.starts_with(asked); });
  if (!begun.empty()) return begun;
  const std::string_view word = asked.substr(std::min(asked.find_first_not_of('-'), asked.size()));
  const std::vector<std::string> holding = chosen(known, [&](const std::string& name) { return has_word(name, word); });
  if (!holding.empty()) return holding;
  const auto distance = [&](const std::string& name) { return edit_distance(asked, name); };
  const auto nearest =
      std::min_element(known.begin(), known.end(), [&](const std::string& a, const std::string& b) { return distance(a) < distance(b); });
  if (nearest == known.end() || 2 * distance(*nearest) > asked.size()) return {};
  return {*nearest};
}

std::string near_name_remedy(std::string_view asked, std::span<const std::string> known, std::string otherwise) {
  const std::vector<std::string> near = near_names(asked, known);
  if (near.empty()) return otherwise;
  if (near.size() == 1) return fmt::format("did you mean {}?", near.front());
  return fmt::format("did you mean {} or {}?", fmt::join(near.begin(), near.end() - 1, ", "), near.back());
}

}  // namespace sim
