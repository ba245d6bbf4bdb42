// What rank 0 says about each step: one line of NDJSON in the run folder, the same numbers as TensorBoard events beside it (a file a launch),
// and progress on stderr (rewritten in place on a terminal, a plain line every two seconds elsewhere).
#pragma once

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "executor/kernels/device_memory.h"
#include "executor/training/checkpoint.h"
#include "executor/training/optimizer.h"
#include "sim/timeline/trace.h"

namespace executor {

struct StepFigures {
  CompletedSteps steps;  // with this one
  StepSummary summary;
  double learning_rate = 0;
  sim::SimTime time{};
  double tokens_per_second = 0;
  DeviceMemory memory;  // with the step's peaks
};
std::string metrics_line(const StepFigures& figures);

// A file that is only added to. What a full disk does not take waits.
class AppendedFile {
 public:
  explicit AppendedFile(const std::string& path);  // made where it is not; throws sim::InputError
  ~AppendedFile();
  AppendedFile(const AppendedFile&) = delete;
  AppendedFile& operator=(const AppendedFile&) = delete;
  bool write(std::string_view more);  // false: something waits, errno says why
  bool waits() const { return !unwritten_.empty(); }

 private:
  int file_ = -1;
  std::string unwritten_;
};

class StepReport {
 public:
  // Lines of steps after `resumed` (lost when the run died) are removed: the file stays a row of steps. Throws sim::InputError.
  StepReport(const std::string& path, CompletedSteps resumed, CompletedSteps all);
  ~StepReport();
  StepReport(const StepReport&) = delete;
  StepReport& operator=(const StepReport&) = delete;
  void add(const StepFigures& figures);  // a line that a full disk does not take is said, and waits for space
  void finish();                         // throws sim::InputError naming the lines that found none

 private:
  void show(const StepFigures& figures);
  std::string path_;
  std::optional<AppendedFile> lines_, events_;
  CompletedSteps first_, all_, first_unwritten_{};
  bool on_terminal_;
  std::chrono::steady_clock::time_point start_, shown_;
};

}  // namespace executor
