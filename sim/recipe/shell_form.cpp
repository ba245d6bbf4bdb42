// Options of a command line: `--name value`, `--name=value`, `--flag`; scripts with comments, line ends, arrays and variables of their own.
#include <cctype>
#include <map>

#include "sim/recipe/settings.h"

namespace sim {
namespace {

using Variables = std::map<std::string, std::string>;

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// ${NAME} and $NAME that the text has set; others stay as they are, and whoever wants a number there says so.
std::string with_variables(const std::string& token, const Variables& variables) {
  std::string text;
  for (std::size_t at = 0; at < token.size();) {
    const std::size_t begin = at + (token.compare(at, 2, "${") == 0 ? 2 : 1);
    std::size_t end = begin;
    while (token[at] == '$' && end < token.size() && is_name(token[end])) ++end;
    const auto known = token[at] == '$' ? variables.find(token.substr(begin, end - begin)) : variables.end();
    if (known == variables.end()) {
      text += token[at++];
      continue;
    }
    text += known->second;
    at = end + (begin - at == 2 && end < token.size() && token[end] == '}' ? 1 : 0);
  }
  return text;
}

class ShellScanner {
 public:
  ShellScanner(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  RecipeSettings all() && {
    for (char c = 0; at_ < text_.size();) {
      c = text_[at_];
      if (c == '#' && token_.empty())
        skip_comment();
      else if (c == '\\' && at_ + 1 < text_.size())
        take_escaped();
      else if (c == '"' || c == '\'')
        take_quoted(c);
      else if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == '(' || c == ')' || c == ';')
        end_word(c);
      else
        token_ += c, ++at_;
    }
    end_token();
    return std::move(settings_);
  }

 private:
  void skip_comment() { at_ = std::min(text_.find('\n', at_), text_.size()); }
  void take_escaped() {
    if (text_[at_ + 1] != '\n') token_ += text_[at_ + 1];
    at_ += 2;
  }
  void take_quoted(char quote) {
    const std::size_t end = std::min(text_.find(quote, at_ + 1), text_.size());
    token_ += text_.substr(at_ + 1, end - at_ - 1);
    quoted_ = true;
    at_ = std::min(end + 1, text_.size());
  }

  void end_word(char c) {
    end_token();
    open_ = open_ && (c == ' ' || c == '\t');  // a value stands on its option's line
    ++at_;
  }
  void end_token() {
    if (token_.empty() && !quoted_) return;
    const std::string token = with_variables(token_, variables_);
    const std::size_t equals = token.find('=');
    if (token.starts_with("--") && token.size() > 2) {
      settings_.push_back({token.substr(2, equals == std::string::npos ? equals : equals - 2),
                           equals == std::string::npos ? "true" : token.substr(equals + 1)});
      open_ = equals == std::string::npos;
      if (settings_.size() > kMostSettings) throw InputError(file_, {{"", "has more than 10000 options", "give one command line"}});
    } else if (equals != std::string::npos && equals > 0 && !open_) {
      variables_[token.substr(0, equals)] = token.substr(equals + 1);
    } else if (open_) {
      settings_.back().value = token;
      open_ = false;
    }
    token_.clear();
    quoted_ = false;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  std::string token_;
  bool quoted_ = false, open_ = false;  // open: an option may still get its value
  Variables variables_;
  RecipeSettings settings_;
};

std::string quoted_for_shell(const std::string& value) {
  return value.find_first_of(" |*()[]'\"$&;<>?#") == std::string::npos ? value : "'" + value + "'";
}

}  // namespace

std::string shell_text(const RecipeHead& head, const RecipeSettings& settings, const std::string& command) {
  std::string text = "#!/usr/bin/env bash\n" + comment_lines(head) + command;
  for (const RecipeSetting& setting : settings)
    text += " \\\n  --" + setting.key + (setting.value == "true" ? "" : " " + quoted_for_shell(setting.value));
  return text + " \\\n  \"$@\"\n";
}

RecipeSettings read_shell(std::string_view text, const std::string& file) { return ShellScanner(text, file).all(); }

}  // namespace sim
