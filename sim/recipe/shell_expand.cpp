// Words of a shell: quotes, $NAME, ${NAME:-default}, ${LIST[@]}, $((1 + 2)). $(command) is never run: an unknown.
#include <algorithm>
#include <cctype>

#include "sim/recipe/shell_arguments.h"

namespace sim {
namespace {

constexpr int kDeepestExpansion = 32;
constexpr std::size_t kLongestValue = 1 << 20;

// Behind the bracket that closes the one at `at`.
std::size_t end_of_bracket(std::string_view text, std::size_t at, char open, char close) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '\'' || text[at] == '"') {
      const char quote = text[at];
      for (++at; at < text.size() && text[at] != quote; ++at)
        if (text[at] == '\\' && quote == '"') ++at;
    } else if (text[at] == open) {
      ++depth;
    } else if (text[at] == close && --depth == 0) {
      return at + 1;
    }
  }
  return text.size();
}

class Expander {
 public:
  Expander(std::string_view raw, ShellScope& scope, bool splits, bool is_document = false)
      : raw_(raw), scope_(scope), splits_(splits), is_document_(is_document) {}

  std::vector<std::string> fields() && {
    if (++scope_.depth > kDeepestExpansion)
      throw InputError(scope_.file, {{"", "nests expansions too deep", "give the command as it is run"}});
    while (at_ < raw_.size()) step();
    --scope_.depth;
    end_field();
    return std::move(fields_);
  }

 private:
  void step() {
    const char c = raw_[at_];
    if (c == '\\' && at_ + 1 < raw_.size())
      take_escaped();
    else if (c == '\'' && !is_document_)
      take_single_quoted();
    else if (c == '"' && !is_document_)
      in_quotes_ = !in_quotes_, open_ = true, ++at_;
    else if (c == '$')
      take_dollar();
    else if (c == '`')
      take_backticks();
    else if (splits_ && !in_quotes_ && std::isspace(static_cast<unsigned char>(c)) != 0)
      end_field(), ++at_;
    else
      put(std::string(1, c)), ++at_;
  }

  void put(const std::string& text) {
    field_ += text;
    open_ = true;
    if (field_.size() > kLongestValue)
      throw InputError(scope_.file, {{"", "has a value of more than 1 MiB", "give the command as it is run"}});
  }
  void end_field() {
    if (open_ && !(is_empty_list_ && field_.empty())) fields_.push_back(std::move(field_));
    field_.clear();
    open_ = is_empty_list_ = false;
  }
  void take_escaped() {
    const char next = raw_[at_ + 1];
    const bool keeps_slash = (in_quotes_ || is_document_) && next != '"' && next != '\\' && next != '$' && next != '`' && next != '\n';
    if (keeps_slash) put("\\");
    if (next != '\n') put(std::string(1, next));
    at_ += 2;
  }
  void take_single_quoted() {
    if (in_quotes_) return put("'"), static_cast<void>(++at_);
    const std::size_t end = std::min(raw_.find('\'', at_ + 1), raw_.size());
    put(std::string(raw_.substr(at_ + 1, end - at_ - 1)));
    at_ = std::min(end + 1, raw_.size());
  }
  void take_backticks() {
    const std::size_t end = std::min(raw_.find('`', at_ + 1), raw_.size());
    const std::string inner(raw_.substr(at_ + 1, end - at_ - 1));
    put_value({counted(inner).value_or(unknown_value("`" + inner + "`"))}, false);
    at_ = std::min(end + 1, raw_.size());
  }

  // A list gives each of its values as a word; a scalar outside quotes is cut at spaces.
  void put_value(const std::vector<std::string>& values, bool is_list) {
    const bool cuts = splits_ && !in_quotes_;
    is_empty_list_ = is_empty_list_ || (is_list && values.empty());  // "$@" of nothing is no word
    for (std::size_t at = 0; at < values.size(); ++at) {
      if (at > 0 && splits_ && (is_list || cuts)) end_field();
      if (at > 0 && !splits_) put(" ");
      if (cuts)
        put_cut(values[at]);
      else
        put(values[at]);
    }
  }
  void put_cut(const std::string& value) {
    bool is_unknown = false;
    for (const char c : value) {
      is_unknown = c == kUnknownBegin || (is_unknown && c != kUnknownEnd);
      if (!is_unknown && std::isspace(static_cast<unsigned char>(c)) != 0)
        end_field();
      else
        put(std::string(1, c));
    }
  }

  void take_dollar() {
    const std::string_view rest = raw_.substr(at_ + 1);
    if (rest.starts_with("(("))
      take_arithmetic(at_ + 1, '(', ')', 2);
    else if (rest.starts_with("["))
      take_arithmetic(at_ + 1, '[', ']', 1);
    else if (rest.starts_with("("))
      take_output();
    else if (rest.starts_with("{"))
      take_braces();
    else
      take_plain(rest);
  }
  void take_arithmetic(std::size_t begin, char open, char close, std::size_t width) {
    const std::size_t end = end_of_bracket(raw_, begin, open, close);
    const std::string_view inner = raw_.substr(begin + width, end - begin > 2 * width ? end - begin - 2 * width : 0);
    const std::string text = expanded_text(inner, scope_);
    const std::optional<long long> number = arithmetic(text, scope_);
    put_value({number ? std::to_string(*number) : open_formula(text)}, false);
    at_ = end;
  }
  // A formula that nobody can count yet, with the names of which it depends as its unknowns; none: it is one itself.
  std::string open_formula(const std::string& text) const {
    std::string formula;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t begin = at;
      if (text[at] == kUnknownBegin) at = std::min(text.find(kUnknownEnd, at), text.size() - 1);
      while (at < text.size() && is_name_character(text[at])) ++at;
      const std::string part = text.substr(begin, std::max<std::size_t>(at - begin, 1));
      at = begin + part.size();
      const bool is_name = is_name_character(part[0]) && std::isdigit(static_cast<unsigned char>(part[0])) == 0;
      const std::vector<std::string>* const value = is_name ? scope_.take(part) : nullptr;
      if (std::isspace(static_cast<unsigned char>(part[0])) != 0) continue;
      formula += !is_name ? part : value == nullptr || value->empty() ? unknown_value(part) : value->front();
    }
    return unknowns_in(formula).empty() ? unknown_value("((" + shown(text) + "))") : "((" + formula + "))";
  }
  void take_output() {
    const std::size_t end = end_of_bracket(raw_, at_ + 1, '(', ')');
    const std::string whole(raw_.substr(at_, end - at_));
    const std::string inner = whole.size() > 3 ? whole.substr(2, whole.size() - 3) : "";
    std::optional<std::string> text = counted(inner);
    if (!text && scope_.printed) text = scope_.printed(inner);
    put_value({text.value_or(unknown_value(whole))}, false);
    at_ = end;
  }
  // `expr 32 / $n`: a program that only counts.
  std::optional<std::string> counted(const std::string& command) {
    const std::size_t begin = command.find_first_not_of(" \t");
    if (begin == std::string::npos || command.compare(begin, 5, "expr ") != 0) return std::nullopt;
    const std::string formula = expanded_text(command.substr(begin + 5), scope_);
    const std::optional<long long> number = arithmetic(formula, scope_);
    return number ? std::to_string(*number) : open_formula(formula);
  }
  void take_plain(std::string_view rest) {
    std::size_t length = 0;
    while (length < rest.size() && is_name_character(rest[length])) ++length;
    if (length > 0 && std::isdigit(static_cast<unsigned char>(rest[0])) != 0) length = 1;
    if (length == 0 && !rest.empty() && std::string_view("@*#?$!-").find(rest[0]) != std::string_view::npos) length = 1;
    if (length == 0) return put("$"), static_cast<void>(++at_);
    const std::string name(rest.substr(0, length));
    at_ += 1 + length;
    put_parameter(name, "", false);
  }
  void take_braces() {
    const std::size_t end = end_of_bracket(raw_, at_ + 1, '{', '}');
    const std::string inner(raw_.substr(at_ + 2, end - at_ > 3 ? end - at_ - 3 : 0));
    at_ = end;
    std::size_t length = 0;
    while (length < inner.size() && is_name_character(inner[length])) ++length;
    if (length == 0 && !inner.empty() && (inner[0] == '@' || inner[0] == '*')) length = 1;
    if (length == 0 && put_counts(inner)) return;
    if (length == 0) return put_value({unknown_value(inner)}, false);
    const std::size_t close =
        length < inner.size() && inner[length] == '[' ? std::min(inner.find(']', length), inner.size() - 1) + 1 : length;
    const std::string name = inner.substr(0, length), index = inner.substr(length, close - length);
    const bool is_whole = index == "[@]" || index == "[*]";
    const std::string rest = inner.substr(close);
    if (close <= length + 2 || is_whole) return put_parameter(name, rest, is_whole);
    const std::optional<std::string> value = element(name, expanded_text(inner.substr(length + 1, close - length - 2), scope_));
    if (!value && rest.empty()) return put_value({unknown_value(name)}, false);
    if (value) scope_.variables[name + index] = {*value};
    put_parameter(name + index, rest, false);
    scope_.variables.erase(name + index);
  }
  // ${LIST[2]}, ${BY_NAME[7b]} of `([7b]=32 [13b]=40)`. None: nothing stands there.
  std::optional<std::string> element(const std::string& name, const std::string& index) {
    if (const std::vector<std::string> open = unknowns_in(index); !open.empty()) return unknown_value(open.front());
    const std::vector<std::string>* const values = scope_.take(name);
    if (values == nullptr) return std::nullopt;
    const auto is_named = [&](const std::string& one) { return one.starts_with("[" + index + "]="); };
    if (const auto found = std::ranges::find_if(*values, is_named); found != values->end()) return found->substr(index.size() + 3);
    const std::optional<long long> at = arithmetic(index, scope_);
    const auto size = static_cast<long long>(values->size()), place = at.value_or(size) + (at.value_or(0) < 0 ? size : 0);
    return place < 0 || place >= size ? std::nullopt : std::optional((*values)[static_cast<std::size_t>(place)]);
  }
  // ${!LIST[@]}: the numbers of its values; ${#LIST[@]}: how many they are. Whether it is one.
  bool put_counts(const std::string& inner) {
    if (!(inner.starts_with("!") || inner.starts_with("#")) || !(inner.ends_with("[@]") || inner.ends_with("[*]"))) return false;
    const std::vector<std::string>* const values = scope_.take(inner.substr(1, inner.size() - 4));
    if (values == nullptr || std::ranges::any_of(*values, [](const std::string& one) { return one.starts_with("["); })) return false;
    std::vector<std::string> numbers;
    for (std::size_t at = 0; at < values->size(); ++at) numbers.push_back(std::to_string(at));
    return inner[0] == '#' ? put_value({std::to_string(numbers.size())}, false) : put_value(numbers, true), true;
  }

  // `rest`: what stands behind the name, ":-default" and its likes.
  void put_parameter(const std::string& name, const std::string& rest, bool is_whole_list) {
    if (name == "#") return put_value({std::to_string(arguments_of(scope_).size())}, false);
    if (name == "@" || name == "*") return put_value(arguments_of(scope_), true);
    const std::vector<std::string>* const values = scope_.take(name);
    const std::size_t width = rest.starts_with(":") && !rest.starts_with(":/") ? 2 : 1;
    const char operation = rest.empty() ? '\0' : rest[width - 1 < rest.size() ? width - 1 : 0];
    const bool has_value = values != nullptr && !values->empty() && (width == 1 || !values->front().empty());  // what is unset is empty
    if (operation == '-' || operation == '=' || operation == '?' || operation == '+')
      if (has_value == (operation == '+')) {
        if (operation == '?') return put_value({unknown_value(name)}, false);
        std::vector<std::string> instead = operation == '+' || !splits_ || in_quotes_
                                               ? std::vector<std::string>{expanded_text(rest.substr(width), scope_)}
                                               : expanded_words(rest.substr(width), scope_);
        if (operation == '=') scope_.set(name, instead);
        return put_value(instead, false);
      }
    if (operation == '+' && values == nullptr) return;
    const bool is_cut = !rest.empty() && operation != '-' && operation != '=' && operation != '?' && operation != '+';
    if (values == nullptr || is_cut) return put_value({unknown_value(is_cut ? name + rest : name)}, false);
    if (is_whole_list) return put_value(*values, true);
    put_value({values->empty() ? std::string() : values->front()}, false);
  }

  std::string_view raw_;
  ShellScope& scope_;
  bool splits_, is_document_, in_quotes_ = false, open_ = false, is_empty_list_ = false;
  std::size_t at_ = 0;
  std::string field_;
  std::vector<std::string> fields_;
};

// Behind what an expansion left open, where its value is read again as a command: a name, or a formula with names in it.
std::size_t end_of_open_value(std::string_view text, std::size_t at) {
  if (text[at] == kUnknownBegin) return std::min(text.find(kUnknownEnd, at), text.size() - 1) + 1;
  if (!text.substr(at).starts_with("((")) return at;
  const std::size_t end = end_of_bracket(text, at, '(', ')');
  return text.substr(at, end - at).find(kUnknownBegin) == std::string_view::npos ? at : end;
}

std::string joined(const std::vector<std::string>& fields) {
  std::string text;
  for (const std::string& field : fields) text += (text.empty() ? "" : " ") + field;
  return text;
}

}  // namespace

const std::vector<std::string>* ShellScope::take(const std::string& name) {
  expanded.insert(name);
  return find(name);
}

const std::vector<std::string>* ShellScope::find(const std::string& name) const {
  const auto found = variables.find(name);
  return found == variables.end() ? nullptr : &found->second;
}

ShellScope::Kept ShellScope::kept(const std::set<std::string>& names) const {
  Kept kept;
  for (const std::string& name : names) {
    const std::vector<std::string>* const now = find(name);
    kept[name] = now == nullptr ? std::nullopt : std::optional(*now);
  }
  return kept;
}

void ShellScope::give_back(const Kept& kept) {
  for (const auto& [name, before] : kept) before ? static_cast<void>(variables[name] = *before) : static_cast<void>(variables.erase(name));
}

void ShellScope::set(const std::string& name, std::vector<std::string> values) {
  if (given.contains(name)) return;
  variables[name] = std::move(values);
  expanded.erase(name);  // X=${X:-4} is no use of it
}

std::size_t end_of_placeholder(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size() || text[at] != '<' || std::isupper(static_cast<unsigned char>(text[at + 1])) == 0) return at;
  const std::size_t end = text.find_first_of(">\n<|&;\"'$", at + 1);
  const bool closes = end != std::string_view::npos && text[end] == '>' && std::isspace(static_cast<unsigned char>(text[end - 1])) == 0;
  const bool ends = closes && (end + 1 == text.size() || std::string_view(" \t\n\\\"'").find(text[end + 1]) != std::string_view::npos);
  return ends ? end + 1 : at;
}

std::size_t end_of_shell_word(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (const std::size_t end = end_of_placeholder(text, at); end > at) return end;
    if (const std::size_t end = end_of_open_value(text, at); end > at) {
      at = end;
      continue;
    }
    const char c = text[at];
    if (std::isspace(static_cast<unsigned char>(c)) != 0 || std::string_view(";&|<>()").find(c) != std::string_view::npos) return at;
    if (c == '\\')
      at = std::min(at + 2, text.size());
    else if (c == '\'' || c == '`')
      at = std::min(text.find(c, at + 1), text.size() - 1) + 1;
    else if (c == '"')
      for (at = at + 1; at <= text.size(); ++at) {
        if (at == text.size()) break;
        if (text[at] == '"') {
          ++at;
          break;
        }
        if (text[at] == '\\') ++at;
      }
    else if (c == '$' && at + 1 < text.size() && (text[at + 1] == '(' || text[at + 1] == '{' || text[at + 1] == '['))
      at = end_of_bracket(text, at + 1, text[at + 1], text[at + 1] == '(' ? ')' : text[at + 1] == '{' ? '}' : ']');
    else
      ++at;
  }
  return text.size();
}

std::vector<std::string> expanded_words(std::string_view raw, ShellScope& scope) { return Expander(raw, scope, true).fields(); }
std::string expanded_text(std::string_view raw, ShellScope& scope) { return joined(Expander(raw, scope, false).fields()); }
std::string expanded_document(std::string_view text, ShellScope& scope) { return joined(Expander(text, scope, false, true).fields()); }

}  // namespace sim
