// Looks at the heartbeats of a run's ranks while they train: a run in which no rank begins anything any more hangs, and is told by rank, step, task and
// who waits for whom; a rank that computes much longer than its equals is a straggler, told while it lasts. Ends nothing itself.
//
//   hangs       no heartbeat has moved for the limit: as asked, else 60 s, or 20 of the longest step so far if that is more; 10 min outside of steps
//   lost        a rank that was seen is gone for 10 s while others live: mpirun, which should have ended them at once, has not
//   straggler   of a window of 10 s it computes more than half, and 1.5 times the median of the ranks of its stage
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/heartbeat_file.h"

namespace cli {

struct WatchedRun {
  std::string folder;
  sim::ParallelPlan plan;
  std::optional<std::int64_t> limit;  // seconds; 0: none
};

class Watchdog {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Watchdog(WatchedRun run, Clock::time_point start = Clock::now());

  struct Finding {
    bool hangs = false;              // or lost a rank: nothing comes of it any more
    std::vector<std::string> words;  // for the person
  };
  Finding look(Clock::time_point now = Clock::now());

 private:
  std::vector<std::optional<sim::HeartbeatReading>> read() const;
  void note_progress(Clock::time_point now);
  std::optional<Clock::duration> limit() const;  // nullopt: none
  std::string hang_words(Clock::duration idle) const;
  void note_lost(Clock::time_point now);
  std::string lost_words() const;
  std::string state_of_ranks() const;
  void judge_window(Clock::time_point now, std::vector<std::string>& words);
  std::string straggler_words(sim::Rank rank, double times) const;

  WatchedRun run_;
  std::vector<std::optional<sim::HeartbeatReading>> ranks_;
  Clock::time_point moved_, step_began_, window_began_;
  std::int64_t written_ = 0, step_ = -1;
  Clock::duration longest_step_{};
  std::vector<std::int64_t> computing_;  // of each rank, when the window began
  std::map<std::int32_t, bool> straggles_;
  std::map<std::int32_t, Clock::time_point> lost_;  // when it was missed first
  std::set<std::int64_t> seen_;                     // processes: those of another machine are never seen
};

}  // namespace cli
