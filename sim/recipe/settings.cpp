#include "sim/recipe/settings.h"

#include <algorithm>
#include <charconv>

namespace sim {

bool is_literal(std::string_view value) {
  if (value == "true" || value == "false" || value == "null" || value.starts_with("[")) return true;
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc{} && end == value.data() + value.size() && value.find_first_of("infa") == std::string_view::npos;
}

std::string leaf_of(std::string_view key) { return std::string(key.substr(key.rfind('.') + 1)); }  // npos + 1 is 0

std::string comment_lines(const RecipeHead& head) {
  std::string text = "# " + head.title + "\n";
  for (const std::string& remark : head.remarks) text += "# - " + remark + "\n";
  std::replace(text.begin(), text.end(), '\r', ' ');
  return text;
}

}  // namespace sim
