// How far a long piece of work is, and whether it is still wanted: shared between who does it and who waits, looked at and set from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "sim/units/sim_time.h"
#include "sim/units/told.h"

namespace gui {

struct Progress {
  std::atomic<bool> cancelled{false};
  std::atomic<std::int64_t> done{0}, all{0};  // bytes, ranks, plans: what grows evenly with time; all 0: nobody counts
  std::atomic<double> part{0};                // where nobody counts: 0 to 1

  double share() const;          // 0 to 1
  void stopIfCancelled() const;  // throws sim::InputError
};

// What somebody watches, or nobody: the work is the same.
class Watched {
 public:
  explicit Watched(Progress* by) : by_(by != nullptr ? *by : unseen_) {}
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  operator Progress&() const { return by_; }
  Progress* operator->() const { return &by_; }

 private:
  Progress unseen_;
  Progress& by_;
};

// A stretch of work that counts by itself: from `begin` to `end` of the whole.
struct ProgressPart {
  Progress& whole;
  double begin = 0, end = 1;
  void operator()(const sim::HowFar& far) const;  // throws sim::InputError where it is no longer wanted
};

// Pieces of work that follow each other, each counted by itself: how far all of them are. Never falls.
class InTurn {
 public:
  explicit InTurn(std::int64_t pieces) : pieces_(pieces) {}
  double share(const sim::HowFar& now);  // of the piece that is at work

 private:
  std::int64_t pieces_, at_ = 0;
  sim::HowFar last_;
  double share_ = 0;
};

// How long it still takes, at the pace so far. While nothing more is done, it falls with the clock.
class Pace {
 public:
  std::optional<sim::Seconds> left(double share, sim::Seconds since);  // none: too early to say, or longer than it seemed

 private:
  double share_ = 0;
  sim::Seconds all_{};
};

}  // namespace gui
