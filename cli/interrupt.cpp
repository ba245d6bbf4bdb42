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

}  // namespace

const std::atomic<bool>& interrupted() {
  static const bool installed = [] {
    struct sigaction action {};
    action.sa_handler = take_note;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    return true;
  }();
  static_cast<void>(installed);
  return flag;
}

bool insisted() { return count > 1; }

}  // namespace cli
