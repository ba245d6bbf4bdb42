// A place in the text of a script: what stands there, and what is passed over between statements. Quotes and brackets are never left half.
#pragma once

#include <string>
#include <string_view>

namespace sim {

class ShellCursor {
 public:
  explicit ShellCursor(std::string_view text) : text_(text) {}

 protected:
  std::string peek() const;  // the word that stands here, with its quotes
  std::string take(const std::string& word);
  std::string take_word();
  void skip_spaces();  // of this line, which a backslash makes longer
  void skip_comment();
  void skip_blank();             // spaces, ends of lines, comments and what stands between commands
  void skip_blank_but_double();  // the same up to ;;

  std::string_view text_;
  std::size_t at_ = 0;

 private:
  void skip_between(bool doubles);
};

}  // namespace sim
