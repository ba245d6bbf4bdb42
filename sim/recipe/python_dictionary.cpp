#include "sim/recipe/python_dictionary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "sim/recipe/accounting.h"
#include "sim/units/number_text.h"

namespace sim {
namespace {

constexpr int kDeepest = 32;
constexpr std::string_view kKeysOfDeepSpeed = "zero_optimization train_batch_size train_micro_batch_size_per_gpu";

bool is_of_a_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("_.+-").find(c) != std::string_view::npos;
}

// Reads one literal from `at` on; what is none ends it.
class LiteralReader {
 public:
  LiteralReader(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  std::optional<std::string> dictionary() {
    std::string json;
    if (!read_list('{', json, 0)) return {};
    return json;
  }
  std::size_t end() const { return at_; }
  bool has_key_of_deepspeed() const {
    return std::ranges::any_of(outer_keys_, [](const std::string& key) { return has_name(kKeysOfDeepSpeed, key); });
  }

 private:
  char next() {
    while (at_ < text_.size() && (std::isspace(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '#'))
      at_ = text_[at_] == '#' ? std::min(text_.find('\n', at_), text_.size()) : at_ + 1;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool read_text(std::string& into) {
    const char quote = text_[at_];
    const std::size_t end = text_.find_first_of(std::string{quote, '\\', '\n'}, at_ + 1);
    if (end == std::string_view::npos || text_[end] != quote || end == at_ + 1) return false;  // escaped, or of several lines, or none
    into = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return into.find('"') == std::string::npos;
  }

  bool read_word(std::string& json) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_of_a_word(text_[at_])) ++at_;
    std::string word(text_.substr(begin, at_ - begin));
    if (word == "True" || word == "False" || word == "None")
      return json += word == "True" ? "true" : word == "False" ? "false" : "null", true;
    std::erase(word, '_');
    const std::optional<double> number = sim::number_in<double>(word);
    if (!number || word.find_first_of("infa") != std::string::npos) return false;
    json += sim::number_in<std::int64_t>(word) ? word : fmt::format("{}", *number);
    return true;
  }

  bool read_value(std::string& json, int depth) {
    const char first = next();
    if (depth > kDeepest) return false;
    if (first == '{' || first == '[' || first == '(') return read_list(first, json, depth);
    if (first != '"' && first != '\'') return read_word(json);
    std::string text;
    if (!read_text(text)) return false;
    json += '"' + text + '"';
    return true;
  }

  bool read_key(std::string& json, int depth) {
    std::string key;
    if (const char quote = next(); (quote != '"' && quote != '\'') || !read_text(key) || next() != ':') return false;
    ++at_;
    if (depth == 0) outer_keys_.push_back(key);
    json += '"' + key + "\": ";
    return true;
  }

  bool read_list(char open, std::string& json, int depth) {
    const char close = open == '{' ? '}' : open == '[' ? ']' : ')';
    json += open == '{' ? '{' : '[';
    ++at_;
    for (bool is_first = true; next() != close; is_first = false) {
      if (!is_first) json += ", ";
      if ((open == '{' && !read_key(json, depth)) || !read_value(json, depth + 1)) return false;
      if (next() == ',')
        ++at_;
      else if (next() != close)
        return false;
    }
    ++at_;
    json += open == '{' ? '}' : ']';
    return true;
  }

  std::string_view text_;
  std::size_t at_;
  std::vector<std::string> outer_keys_;
};

// `name = {`, `name: dict = {`, `config={`. "": it has none.
std::string name_before(std::string_view text, std::size_t open) {
  const std::size_t line = text.rfind('\n', open) + 1;  // npos + 1 is 0
  std::string_view before = text.substr(line, open - line);
  before = before.substr(0, before.find_first_of(":="));
  const std::size_t end = before.find_last_not_of(' ');
  if (end == std::string_view::npos) return "";
  const std::size_t begin = before.find_last_of(" (,", end) + 1;
  return std::string(before.substr(begin, end + 1 - begin));
}

// `name["train_batch_size"] = 8`, `name.update(more)`.
bool is_changed(std::string_view text, const std::string& name) {
  if (name.empty()) return false;
  if (text.find(name + ".update(") != std::string_view::npos) return true;
  for (std::size_t at = text.find(name + "["); at != std::string_view::npos; at = text.find(name + "[", at + 1)) {
    const std::string_view line = text.substr(at, std::min(text.find('\n', at), text.size()) - at);
    const std::size_t close = line.rfind(']');
    const std::size_t sign = close == std::string_view::npos ? close : line.find_first_not_of(' ', close + 1);
    if (sign != std::string_view::npos && line[sign] == '=' && line.substr(sign, 2) != "==") return true;
  }
  return false;
}

// What stands between a brace and the one that closes it holds one of the keys.
bool may_hold_settings(std::string_view text, std::size_t open) {
  std::size_t at = open;
  for (int depth = 0; at < text.size(); ++at) {
    depth += text[at] == '{' ? 1 : text[at] == '}' ? -1 : 0;
    if (depth == 0) break;
  }
  const std::string_view inside = text.substr(open, at - open);
  return std::ranges::any_of(words_of(kKeysOfDeepSpeed),
                             [&](const std::string& key) { return inside.find(key) != std::string_view::npos; });
}

}  // namespace

std::optional<std::string> deepspeed_dictionary(std::string_view python) {
  std::optional<std::string> found;
  if (python.find("deepspeed") == std::string_view::npos) return {};
  for (std::size_t open = python.find('{'); open != std::string_view::npos; open = python.find('{', open + 1)) {
    LiteralReader reader(python, open);
    const std::optional<std::string> json = reader.dictionary();
    if (!json && may_hold_settings(python, open)) return {};
    if (!json || !reader.has_key_of_deepspeed()) continue;
    if (found || is_changed(python, name_before(python, open))) return {};
    found = json;
    open = reader.end() - 1;
  }
  return found;
}

}  // namespace sim
