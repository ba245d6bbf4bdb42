#include "executor/training/trace_recorder.h"

#include <algorithm>
#include <utility>

namespace executor {

void TraceRecorder::begin_step(std::int64_t step, Moment now) {
  const std::size_t tasks = current_.spans.capacity();
  current_ = {.step = step, .spans = {}, .ledger = {}, .peak_memory = {}, .duration = {}, .start = {}};
  current_.spans.reserve(tasks);
  reset_memory_peaks(device_);
  step_begin_ = std::move(now);
  intervals_.clear();
  step_start_ = Clock::now();
  current_.start = std::chrono::duration_cast<sim::SimTime>(step_start_ - origin_);
}

void TraceRecorder::end_task(const sim::Task& task, Moment now) {
  const auto end = Clock::now();
  current_.spans.push_back(
      {.device = sim::DeviceId(0), .stream = task.stream, .key = task.key, .start = since_start(task_start_), .end = since_start(end)});
  if (step_begin_) intervals_.push_back({.begin = std::exchange(task_begin_, {}), .end = std::move(now)});
}

void TraceRecorder::add_task(const sim::Task& task, std::chrono::steady_clock::time_point begun) {
  task_start_ = std::max(begun, step_start_);
  end_task(task);
}

// The streams are joined: when the last event has happened, all have.
void TraceRecorder::read_events() {
  const auto since_begin = [&](const Moment& moment) {
    constexpr double kPicosecondsPerMillisecond = 1e9;
    return sim::SimTime(static_cast<std::int64_t>(step_begin_->elapsedTime(*moment) * kPicosecondsPerMillisecond));
  };
  for (std::size_t at = 0; at < intervals_.size(); ++at) {
    if (!intervals_[at].end) continue;  // the host's own
    intervals_[at].end->synchronize();
    current_.spans[at].start = since_begin(intervals_[at].begin);
    current_.spans[at].end = since_begin(intervals_[at].end);
  }
}

void TraceRecorder::end_step(std::vector<sim::LedgerEntry> ledger, Spans spans) {
  read_events();
  current_.duration = since_start(Clock::now());
  memory_ = device_memory(device_, memory_);
  current_.peak_memory = memory_.allocated_peak;
  current_.ledger = std::move(ledger);
  if (spans == Spans::All) steps_.push_back(current_);
  if (steps_.size() > kept_) steps_.pop_front();
}

}  // namespace executor
