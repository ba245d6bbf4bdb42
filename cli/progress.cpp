#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "sim/units/unit_text.h"

namespace cli {
namespace {

constexpr auto kSilence = std::chrono::seconds(2);
constexpr double kTellingShare = 0.02;  // of the work: less says nothing about the rest (a search begins with its slowest candidates)

bool animates() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

// A line that the terminal breaks cannot be written over.
std::string cut_to_screen(std::string line) {
  winsize screen{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &screen) == 0 && screen.ws_col > 1 && line.size() >= screen.ws_col) line.resize(screen.ws_col - 1U);
  return line;
}

}  // namespace

std::string progress_line(std::string_view what, const Progress::State& state, std::chrono::duration<double> left) {
  std::string line = fmt::format("{} {}", what, state.done);
  if (state.all > 0) line += fmt::format(" of {} ({} %)", state.all, 100 * state.done / state.all);
  if (!state.details.empty()) line += fmt::format(", {}", state.details);
  if (left.count() >= 0)
    line += fmt::format(", {} left",
                        left.count() < 60 ? fmt::format("{:.0f} s", left.count()) : sim::duration_text(sim::Seconds(left.count())));
  return line;
}

Progress::Progress(std::string what) : what_(std::move(what)), terminal_(animates()), start_(Clock::now()), next_(start_ + kSilence) {}

Progress::~Progress() {
  if (shown_ && terminal_) std::fputs("\r\033[K", stderr);
}

// Plain lines grow rarer, so that a log of a long run stays readable.
void Progress::schedule_next(Clock::time_point now) {
  const auto plain = std::max<Clock::duration>(kSilence, (now - start_) / 8);
  next_ = now + (terminal_ ? std::chrono::milliseconds(200) : plain);
}

void Progress::update(const State& state) {
  const std::lock_guard lock(mutex_);
  if (first_done_ < 0) first_done_ = state.done;
  const Clock::time_point now = Clock::now();
  if (now < next_ && !(state.is_news && terminal_)) return;
  schedule_next(now);
  shown_ = true;
  const std::chrono::duration<double> spent = now - start_;
  const double ours = static_cast<double>(state.done - first_done_);
  const bool tells = ours > 0 && ours >= kTellingShare * static_cast<double>(state.all - first_done_);
  const std::chrono::duration<double> left =
      state.all > 0 && tells ? spent * (static_cast<double>(state.all - state.done) / ours) : std::chrono::duration<double>(-1);
  const std::string line = progress_line(what_, state, left);
  fmt::print(stderr, "{}", terminal_ ? "\r" + cut_to_screen(line) + "\033[K" : line + "\n");
  std::fflush(stderr);
}

}  // namespace cli
