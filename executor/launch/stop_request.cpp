#include "executor/launch/stop_request.h"

#include <atomic>
#include <csignal>

namespace executor {
namespace {

std::atomic<bool> requested{false};
extern "C" void take_note(int) { requested = true; }

}  // namespace

void watch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = take_note;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) sigaction(signal, &action, nullptr);
}

bool stop_requested() { return requested; }

}  // namespace executor
