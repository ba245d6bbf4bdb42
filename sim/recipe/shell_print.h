// What $(...) prints, where the text says all of it: echo, in a function or by itself, and a document that cat shows.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sim {

class ShellPrint {
 public:
  void add(const std::string& text, bool is_in_doubt);
  // Of other commands nobody knows what they print; return and exit end it.
  void take(const std::vector<std::string>& words, bool is_in_doubt);
  std::optional<std::string> text() &&;  // without the ends of its last lines; nothing: it is not known

 private:
  std::string text_;
  bool is_known_ = true, is_over_ = false;
};

bool may_be_printed(const std::string& command, const std::map<std::string, std::string>& functions);

}  // namespace sim
