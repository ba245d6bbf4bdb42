#include "executor/training/trace_recorder.h"

#include <algorithm>
#include <utility>

namespace executor {
namespace {

// Of a run on a device: short ones have all their steps in the trace, long ones one of seventeen, so that it is no checkpoint that all of them follow. All
// ranks take the same.
constexpr std::int64_t kFirstSteps = 32, kThenOneOf = 17;

}  // namespace

void TraceRecorder::begin_step(std::int64_t step, Moment now) {
  const std::size_t tasks = current_.spans.capacity();
  current_ = {.step = step, .spans = {}, .ledger = {}, .peak_memory = {}, .duration = {}, .start = {}};
  current_.spans.reserve(tasks);
  if (times_tasks_) untimed_peak_ = {};
  times_tasks_ = device_.is_cpu() || begun_steps_ < kFirstSteps || begun_steps_ % kThenOneOf == 0;
  ++begun_steps_;
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

void TraceRecorder::add_task(const sim::Task& task, Interval interval) {
  current_.spans.push_back({.device = sim::DeviceId(0),
                            .stream = task.stream,
                            .key = task.key,
                            .start = since_start(std::max(interval.begun, step_start_)),
                            .end = since_start(interval.ended)});
  if (step_begin_) intervals_.push_back({});
}

void TraceRecorder::read_events() {
  const Unread unread = std::exchange(unread_, {});
  const auto since_begin = [&](const Moment& moment) {
    constexpr double kPicosecondsPerMillisecond = 1e9;
    return sim::SimTime(static_cast<std::int64_t>(unread.begin->elapsedTime(*moment) * kPicosecondsPerMillisecond));
  };
  const auto put_into = [&](sim::MeasuredStep& step) {
    if (step.step != unread.step) return;
    for (std::size_t at = 0; at < unread.intervals.size(); ++at) {
      const Moments& interval = unread.intervals[at];
      if (!interval.end) continue;  // the host's own
      interval.end->synchronize();
      step.spans[at].start = since_begin(interval.begin);
      step.spans[at].end = since_begin(interval.end);
    }
  };
  if (!unread.begin) return;
  if (!steps_.empty()) put_into(steps_.back());
  put_into(current_);
}

void TraceRecorder::end_step(StepEnd end) {
  read_events();  // of the step before: the device still computes this one
  if (end.now) end.now->synchronize();
  current_.duration = since_start(Clock::now());
  memory_ = device_memory(device_, memory_);
  untimed_peak_ = std::max(untimed_peak_, memory_.allocated_peak);
  current_.peak_memory = untimed_peak_;
  current_.ledger = std::move(end.ledger);
  current_.expert_rows = end.expert_rows;
  if (end.spans == Spans::All && times_tasks_) steps_.push_back(current_);
  if (steps_.size() > kept_) steps_.pop_front();
  unread_ = {.step = current_.step, .begin = std::exchange(step_begin_, {}), .intervals = std::exchange(intervals_, {})};
}

const sim::MeasuredStep& TraceRecorder::last() {
  read_events();
  return current_;
}

std::vector<sim::MeasuredStep> TraceRecorder::steps() {
  read_events();
  return {steps_.begin(), steps_.end()};
}

}  // namespace executor
