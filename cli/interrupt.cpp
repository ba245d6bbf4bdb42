#include "cli/interrupt.h"

#include <chrono>
#include <csignal>
#include <cstdlib>

#include "cli/exit_code.h"

namespace cli {
namespace {

std::atomic<bool> flag{false};
std::atomic<int> count{0};

constexpr auto kGlance = std::chrono::milliseconds(10);
constexpr sim::Seconds kForAnAnswer(60);  // beyond the budget

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

bool is_over(sim::Seconds spent, std::optional<sim::Seconds> budget, bool has_answer) {
  return budget && spent >= (has_answer ? *budget : *budget + kForAnAnswer);
}

std::jthread stop_when_over(std::optional<sim::Seconds> budget, const std::atomic<bool>& has_answer, std::atomic<bool>& stop) {
  using Clock = std::chrono::steady_clock;
  return std::jthread([&has_answer, &stop, budget, begin = Clock::now()](const std::stop_token& done) {
    while (!done.stop_requested() && !stop) {
      const std::chrono::duration<double> spent = Clock::now() - begin;
      if (interrupted() || is_over(sim::Seconds(spent.count()), budget, has_answer)) stop = true;
      std::this_thread::sleep_for(kGlance);
    }
  });
}

}  // namespace cli
