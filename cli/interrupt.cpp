#include "cli/interrupt.h"

#include <csignal>
#include <cstdlib>

#include "cli/exit_code.h"

namespace cli {
namespace {

std::atomic<bool> flag{false};
std::atomic<int> count{0};

extern "C" void take_note(int) {
  flag = true;
  if (++count > 2) std::_Exit(kInterrupted);
}

extern "C" void end_now(int) { std::_Exit(kInterrupted); }

void answer_signals_by(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

}  // namespace

void end_on_signals() { answer_signals_by(end_now); }

const std::atomic<bool>& interrupted() {
  static const bool installed = (answer_signals_by(take_note), true);
  static_cast<void>(installed);
  return flag;
}

bool insisted() { return count > 1; }

}  // namespace cli
