// Tells how far a long piece of work is, on stderr: nothing but news in the first two seconds, then a line that rewrites itself on a
// terminal, or a plain line now and then elsewhere. Safe to update from several threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace cli {

class Progress {
 public:
  struct State {
    std::int64_t done = 0, all = 0;  // all 0: unknown
    std::string_view details;        // "loss 3.21, 1,950 tokens/s"
    bool is_news = false;            // what people wait for: a terminal shows it at once
  };

  explicit Progress(std::string what);
  ~Progress();  // leaves a clean line on a terminal
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void update(const State& state);

 private:
  using Clock = std::chrono::steady_clock;
  void schedule_next(Clock::time_point now);
  std::string what_;
  bool terminal_;
  Clock::time_point start_, next_;
  std::int64_t first_done_ = -1;  // work that was done before us (a resumed run) says nothing about our speed
  bool shown_ = false;
  std::mutex mutex_;
};

// "step 30 of 120 (25 %), details, 6 s left"; left < 0: nobody knows
std::string progress_line(std::string_view what, const Progress::State& state, std::chrono::duration<double> left);

}  // namespace cli
