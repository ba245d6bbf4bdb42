// Measures the tasks of a step on this rank: a span each, the collectives that were really made, the allocator's peak. Kept in memory for the
// last steps of a run; written as a trace file at its end. On a GPU a span lies between two events of its stream. Two events a task cost the host more than a small step can spare: there the tasks of
// a sample of the steps are timed, and read while the device computes the next step, or when somebody asks.
#pragma once

#include <chrono>
#include <deque>
#include <vector>

#include "executor/kernels/device_memory.h"
#include "executor/training/device_streams.h"
#include "sim/task_graph/task.h"
#include "sim/timeline/trace.h"

namespace executor {

class TraceRecorder {
 public:
  struct Steps {
    std::size_t value = 0;
  };
  // `origin`: time zero of all ranks, on the clock that they share (one host: std::chrono::steady_clock).
  TraceRecorder(Steps kept, std::chrono::steady_clock::time_point origin, c10::Device device = c10::kCPU)
      : kept_(kept.value), origin_(origin), device_(device) {}

  // Moments of a device's stream; on a CPU none, and the host's clock tells.
  using Moment = DeviceStreams::Moment;
  void begin_step(std::int64_t step, Moment now = {});
  void begin_task(Moment now = {}) {
    task_start_ = Clock::now();
    task_begin_ = std::move(now);
  }
  void end_task(const sim::Task& task, Moment now = {});
  struct Interval {
    std::chrono::steady_clock::time_point begun, ended;
  };
  void add_task(const sim::Task& task, Interval interval);  // of the host; it may have begun before the step
  bool times_tasks() const { return times_tasks_; }         // of this step; else it has no spans
  enum class Spans { All, Some };                           // of the step's tasks. A step without all of them is no part of the trace
  struct StepEnd {
    std::vector<sim::LedgerEntry> ledger;
    Spans spans = Spans::All;
    Moment now = {};  // behind which nothing of the step is left on the device
    sim::ExpertRows expert_rows{};
  };
  void end_step(StepEnd end);

  sim::SimTime duration() const { return current_.duration; }  // of the last step
  const sim::MeasuredStep& last();
  const DeviceMemory& memory() const { return memory_; }  // after the last step, with its peaks
  std::vector<sim::MeasuredStep> steps();

 private:
  using Clock = std::chrono::steady_clock;
  sim::SimTime since_start(Clock::time_point time) const { return std::chrono::duration_cast<sim::SimTime>(time - step_start_); }

  // Of one task on a device.
  struct Moments {
    Moment begin, end;
  };
  // Of the last step that ended: to be put into its spans, here and among those that are kept.
  struct Unread {
    std::int64_t step = -1;
    Moment begin;
    std::vector<Moments> intervals;
  };
  void read_events();

  std::size_t kept_;
  std::int64_t begun_steps_ = 0;
  bool times_tasks_ = true;
  Clock::time_point origin_, step_start_, task_start_;
  sim::MeasuredStep current_;
  std::deque<sim::MeasuredStep> steps_;
  c10::Device device_;
  Moment step_begin_, task_begin_;
  std::vector<Moments> intervals_;  // of current_.spans, on a device
  Unread unread_;
  DeviceMemory memory_;
  sim::Bytes untimed_peak_{};  // since the last step with spans: no peak is lost
};

}  // namespace executor
