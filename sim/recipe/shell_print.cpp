#include "sim/recipe/shell_print.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace sim {

void ShellPrint::add(const std::string& text, bool is_in_doubt) {
  if (is_over_) return;
  is_known_ = is_known_ && !is_in_doubt;
  text_ += text;
}

void ShellPrint::take(const std::vector<std::string>& words, bool is_in_doubt) {
  const std::string& name = words.front();
  if (is_over_ || name == "unset") return;
  const bool ends = name == "return" || name == "exit", is_echo = name == "echo" && (words.size() < 2 || !words[1].starts_with("-e"));
  if (ends) return static_cast<void>(is_over_ = true), static_cast<void>(is_known_ = is_known_ && !is_in_doubt);
  std::string line;
  for (std::size_t at = words.size() > 1 && words[1] == "-n" ? 2 : 1; at < words.size(); ++at)
    line += (line.empty() ? "" : " ") + words[at];
  add(line + "\n", is_in_doubt || !is_echo);
}

std::optional<std::string> ShellPrint::text() && {
  while (text_.ends_with('\n')) text_.pop_back();
  return is_known_ ? std::optional(std::move(text_)) : std::nullopt;
}

bool may_be_printed(const std::string& command, const std::map<std::string, std::string>& functions) {
  std::string name = command.substr(std::min(command.find_first_not_of(" \t\n"), command.size()));
  name.resize(std::min(name.find_first_of(" \t\n<"), name.size()));
  constexpr std::string_view kFollowed[] = {"echo", "if", "[", "[[", "test"};
  return functions.contains(name) || std::ranges::find(kFollowed, name) != std::end(kFollowed) ||
         (name == "cat" && command.find("<<") != std::string::npos);
}

}  // namespace sim
