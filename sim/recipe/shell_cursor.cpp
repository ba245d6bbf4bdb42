#include "sim/recipe/shell_cursor.h"

#include <algorithm>

#include "sim/recipe/shell_script.h"

namespace sim {

std::string ShellCursor::peek() const {
  const std::size_t end = end_of_shell_word(text_, at_);
  return std::string(text_.substr(at_, std::max<std::size_t>(end - at_, 1)));
}

std::string ShellCursor::take(const std::string& word) {
  if (text_.substr(at_).starts_with(word)) at_ += word.size();
  return word;
}

std::string ShellCursor::take_word() {
  const std::size_t begin = at_;
  at_ = end_of_shell_word(text_, at_);
  return std::string(text_.substr(begin, at_ - begin));
}

void ShellCursor::skip_comment() {
  if (at_ < text_.size() && text_[at_] == '#') at_ = std::min(text_.find('\n', at_), text_.size());
}

void ShellCursor::skip_spaces() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_.substr(at_).starts_with("\\\n")))
    at_ += text_[at_] == '\\' ? 2 : 1;
}

void ShellCursor::skip_blank() { skip_between(true); }
void ShellCursor::skip_blank_but_double() { skip_between(false); }

void ShellCursor::skip_between(bool doubles) {
  for (std::size_t before = at_ + 1; before != at_ && at_ < text_.size();) {
    before = at_;
    skip_spaces();
    skip_comment();
    if (at_ >= text_.size()) return;
    const std::string_view rest = text_.substr(at_);
    if (!doubles && rest.starts_with(";;")) return;
    if (rest.starts_with("&&") || rest.starts_with("||")) return;
    if (rest[0] == '\n' || rest[0] == ';' || rest[0] == '|' || rest[0] == '&') ++at_;
  }
}

}  // namespace sim
