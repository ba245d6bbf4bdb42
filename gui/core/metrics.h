// The metrics of a run that may still be going on, followed line by line as the ranks write them. A half-written last line waits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/units/quantity.h"
#include "sim/units/sim_time.h"

namespace gui {

struct StepMetrics {
  std::int64_t step = 0;
  double loss = 0, tokens_per_second = 0;
  sim::Seconds time{};
  sim::Bytes memory{};  // of the fullest allocator; 0: not told
};

// Until so many steps are done, at the pace of the last twenty: also behind a pause, a slow start, a resumption. None: no step is known.
std::optional<sim::Seconds> timeLeft(const std::vector<StepMetrics>& steps, std::int64_t all);

class MetricsFollower {
 public:
  MetricsFollower() = default;
  explicit MetricsFollower(const std::string& run_folder) : path_(run_folder + "/metrics.ndjson") {}

  bool look();                                // a megabyte at most; true: there is something new
  bool hasMore() const { return has_more_; }  // than was looked at
  const std::vector<StepMetrics>& steps() const { return steps_; }
  std::int64_t malformed() const { return malformed_; }  // whole lines that are no metrics

 private:
  std::string path_;
  std::int64_t read_ = 0;
  std::int64_t malformed_ = 0;
  bool has_more_ = false;
  std::vector<StepMetrics> steps_;
};

}  // namespace gui
