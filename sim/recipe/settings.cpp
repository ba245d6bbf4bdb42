#include "sim/recipe/settings.h"

#include <algorithm>
#include <cctype>

#include "sim/units/number_text.h"

namespace sim {

const RecipeSetting* first_named(std::string_view key, const RecipeSettings& settings) {
  const auto found = std::ranges::find(settings, key, &RecipeSetting::key);
  return found == settings.end() ? nullptr : &*found;
}

bool is_literal(std::string_view value) {
  if (value == "true" || value == "false" || value == "null" || value.starts_with("[")) return true;
  return number_in<double>(value) && value.find_first_of("infa") == std::string_view::npos;
}

namespace {

// Behind comments and the text that says what a module is for.
std::string_view behind_words_of_python(std::string_view text) {
  for (;;) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    text.remove_prefix(std::min(begin, text.size()));
    const std::string_view quotes = text.substr(0, 3);
    const bool is_text = quotes == "\"\"\"" || quotes == "'''";
    if (!is_text && !text.starts_with("#")) return text;
    const std::size_t end = is_text ? text.find(quotes, 3) : text.find('\n');
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + (is_text ? 3 : 1));
  }
}

}  // namespace

bool begins_as_python(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  if (first.starts_with("#!")) return first.find("python") != std::string_view::npos;
  const std::string_view code = behind_words_of_python(text);
  return code.starts_with("import ") || code.starts_with("from ");
}

bool begins_as_json(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return begin != std::string_view::npos && text[begin] == '{';
}

std::string unknown_value(const std::string& name) {
  std::string text = name;
  std::erase_if(text, [](char c) { return c == kUnknownBegin || c == kUnknownEnd; });
  return kUnknownBegin + text + kUnknownEnd;
}

std::vector<std::string> unknowns_in(std::string_view value) {
  std::vector<std::string> names;
  for (std::size_t at = value.find(kUnknownBegin); at != std::string_view::npos; at = value.find(kUnknownBegin, at + 1)) {
    const std::size_t end = std::min(value.find(kUnknownEnd, at), value.size());
    std::string name(value.substr(at + 1, end - at - 1));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

std::string shown(std::string_view value) {
  std::string text;
  for (std::size_t at = 0; at < value.size(); ++at) {
    const bool is_name = at + 1 < value.size() && (std::isalnum(static_cast<unsigned char>(value[at + 1])) != 0 || value[at + 1] == '_');
    if (value[at] == kUnknownBegin && is_name) text += '$';
    if (value[at] != kUnknownBegin && value[at] != kUnknownEnd) text += value[at];
  }
  return text;
}

std::string in_lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string leaf_of(std::string_view key) { return std::string(key.substr(key.rfind('.') + 1)); }  // npos + 1 is 0

std::optional<RecipeSetting> renamed(const RecipeSetting& setting, std::span<const Renaming> rows) {
  for (const Renaming& row : rows)
    if (row.key == setting.key && (row.value.empty() || row.value == setting.value))
      return RecipeSetting{std::string(row.argument), row.becomes.empty() ? setting.value : std::string(row.becomes)};
  return std::nullopt;
}

std::string comment_lines(const RecipeHead& head) {
  std::string text = "# " + head.title + "\n";
  for (const std::string& remark : head.remarks) text += "# - " + remark + "\n";
  std::replace(text.begin(), text.end(), '\r', ' ');
  return text;
}

}  // namespace sim
