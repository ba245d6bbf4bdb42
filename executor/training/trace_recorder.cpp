#include "executor/training/trace_recorder.h"

#include <utility>

#include "executor/kernels/counting_allocator.h"

namespace executor {

void TraceRecorder::begin_step(std::int64_t step) {
  const std::size_t tasks = current_.spans.capacity();
  current_ = {.step = step, .spans = {}, .ledger = {}, .peak_memory = {}, .duration = {}, .start = {}};
  current_.spans.reserve(tasks);
  reset_peak();
  step_start_ = Clock::now();
  current_.start = std::chrono::duration_cast<sim::SimTime>(step_start_ - origin_);
}

void TraceRecorder::end_task(const sim::Task& task) {
  const auto end = Clock::now();
  current_.spans.push_back(
      {.device = sim::DeviceId(0), .stream = task.stream, .key = task.key, .start = since_start(task_start_), .end = since_start(end)});
}

void TraceRecorder::end_step(std::vector<sim::LedgerEntry> ledger) {
  current_.duration = since_start(Clock::now());
  current_.peak_memory = peak_bytes();
  current_.ledger = std::move(ledger);
  steps_.push_back(current_);
  if (steps_.size() > kept_) steps_.pop_front();
}

}  // namespace executor
