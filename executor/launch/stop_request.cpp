#include "executor/launch/stop_request.h"

#include <execinfo.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <string_view>

namespace executor {
namespace {

std::atomic<bool> requested{false};
extern "C" void take_note(int) { requested = true; }

std::array<void*, 64> frames;
extern "C" void say_where(int) {
  constexpr std::string_view kTitle = "stack:\n";
  const int saved = errno;
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kTitle.data(), kTitle.size());
  backtrace_symbols_fd(frames.data(), backtrace(frames.data(), static_cast<int>(frames.size())), STDERR_FILENO);
  errno = saved;
}

}  // namespace

void watch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = take_note;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) sigaction(signal, &action, nullptr);
  backtrace(frames.data(), 1);  // loads what it needs: in the handler no memory may be taken
  action.sa_handler = say_where;
  sigaction(SIGUSR2, &action, nullptr);
}

bool stop_requested() { return requested; }

}  // namespace executor
