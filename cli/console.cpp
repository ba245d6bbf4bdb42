#include "cli/console.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "sim/units/input_error.h"

namespace cli {
namespace {

bool wants_color() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return (no_color == nullptr || *no_color == '\0') && !dumb && isatty(STDOUT_FILENO) != 0;
}

bool write(std::FILE* file, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), file);
  if (text.empty() || text.back() != '\n') std::fputc('\n', file);
  return std::fflush(file) == 0 && std::ferror(file) == 0;
}

}  // namespace

Console::Console(Form form) : form_(form), bold_(form == Form::Text && wants_color()) {}

void Console::result(std::string_view text, const std::function<std::string()>& document) const {
  if (write(stdout, form_ == Form::Json ? document() : std::string(text))) return;
  throw sim::InputError("stdout",
                        {{"", "cannot be written: " + std::generic_category().message(errno), "free some space, or send it elsewhere"}});
}

void Console::say(std::string_view line) const { write(stderr, line); }

void Console::note(const std::vector<sim::Violation>& notes) const {
  for (const sim::Violation& one : sim::grouped(notes)) say("note: " + sim::located(one) + "; " + one.remedy);
}

std::string Console::heading(std::string_view text) const { return bold_ ? "\033[1m" + std::string(text) + "\033[0m" : std::string(text); }

}  // namespace cli
