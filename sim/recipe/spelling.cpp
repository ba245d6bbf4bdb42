#include "sim/recipe/spelling.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <vector>

#include "sim/recipe/settings.h"
#include "sim/units/at.h"

namespace sim {
namespace {

constexpr std::int64_t kLongestList = 10'000;

// "([0]*3+[1]*58)" in its 61 numbers.
std::string unrolled_runs(const std::string& runs) {
  std::vector<std::string> numbers;
  for (std::size_t at = runs.find('['); at != std::string::npos; at = runs.find('[', at + 1)) {
    const std::size_t close = runs.find(']', at);
    if (close == std::string::npos) return runs;
    std::int64_t times = 1;
    if (runs.compare(close, 2, "]*") == 0) std::from_chars(runs.data() + close + 2, runs.data() + runs.size(), times);
    numbers.insert(numbers.end(), count_of(std::clamp<std::int64_t>(times, 0, kLongestList)), runs.substr(at + 1, close - at - 1));
  }
  return numbers.empty() ? runs : fmt::format("[{}]", fmt::join(numbers, ", "));
}

std::string quoted_words(const std::string& words) {
  std::istringstream stream(words);
  std::string text;
  for (std::string word; stream >> word;) text += fmt::format("{}\"{}\"", text.empty() ? "[" : ", ", word);
  return text.empty() ? text : text + "]";
}

std::string without(std::string text, std::string_view letters) {
  std::erase_if(text, [&](char letter) { return letters.find(letter) != std::string_view::npos; });
  return text;
}

std::string opposite(const std::string& value) {
  const std::string low = in_lower_case(value);
  return low == "true" ? "false" : low == "false" ? "true" : value;  // anything else is told where it is read
}

}  // namespace

std::string spelled(Spelling spelling, bool is_there, const std::string& argument) {
  if (spelling == Spelling::Flag) return is_there ? "true" : "false";
  if (spelling == Spelling::Not) return is_there ? "false" : "true";
  if (!is_there) return "";
  if (spelling == Spelling::List) return unrolled_runs(argument);
  if (spelling == Spelling::Pair)
    return fmt::format("({}, {})", argument.substr(0, argument.find(',')), argument.substr(argument.find(',') + 1));
  return spelling == Spelling::Words ? quoted_words(argument) : argument;
}

std::string argument_of(Spelling spelling, const std::string& value) {
  if (spelling == Spelling::Not) return opposite(value);
  if (spelling == Spelling::List) return without(value, " ");
  if (spelling == Spelling::Pair) return without(value, "()[] ");
  if (spelling != Spelling::Words) return value;
  std::string words = value;
  std::replace(words.begin(), words.end(), ',', ' ');
  return without(words, "[]()'\"");
}

}  // namespace sim
