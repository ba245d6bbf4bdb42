// Searches, one after the other, that Python follows: a callable hears of progress, Ctrl-C ends them all, a budget each.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>

#include "python/bindings.h"
#include "sim/units/sim_time.h"

namespace python {

class FollowedSearch {
 public:
  FollowedSearch(nb::object progress, std::optional<sim::Seconds> budget);
  planner::SearchResult search(const planner::SearchRequest& request);  // on the thread that works
  void glance();                                                        // on Python's own; throws what the callable raises
  std::atomic<bool>& stop() { return stop_; }

 private:
  void end_when_over();

  nb::object progress_;  // None, or called with (done, all, best step time so far in seconds; 0: none yet)
  std::optional<sim::Seconds> budget_;
  std::chrono::steady_clock::time_point begin_{};  // of that search
  std::atomic<bool> stop_{false}, over_{false};    // over: of the search in hand
  std::mutex mutex_;
  planner::SearchProgress now_;
  bool has_answer_ = false;  // of several searches in one, an earlier one's counts
};

}  // namespace python
