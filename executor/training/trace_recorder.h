// Measures the tasks of a step on this rank: a span each, the collectives that were really made, the allocator's peak. Kept in memory for the
// last steps of a run; written as a trace file at its end.
#pragma once

#include <chrono>
#include <deque>
#include <vector>

#include "sim/task_graph/task.h"
#include "sim/timeline/trace.h"

namespace executor {

class TraceRecorder {
 public:
  struct Steps {
    std::size_t value = 0;
  };
  // `origin`: time zero of all ranks, on the clock that they share (one host: std::chrono::steady_clock).
  TraceRecorder(Steps kept, std::chrono::steady_clock::time_point origin) : kept_(kept.value), origin_(origin) {}

  void begin_step(std::int64_t step);
  void begin_task() { task_start_ = Clock::now(); }
  void end_task(const sim::Task& task);
  void end_step(std::vector<sim::LedgerEntry> ledger);

  const sim::MeasuredStep& last() const { return steps_.back(); }
  std::vector<sim::MeasuredStep> steps() const { return {steps_.begin(), steps_.end()}; }

 private:
  using Clock = std::chrono::steady_clock;
  sim::SimTime since_start(Clock::time_point time) const { return std::chrono::duration_cast<sim::SimTime>(time - step_start_); }

  std::size_t kept_;
  Clock::time_point origin_, step_start_, task_start_;
  sim::MeasuredStep current_;
  std::deque<sim::MeasuredStep> steps_;
};

}  // namespace executor
