#include "executor/training/trace_recorder.h"

#include <gtest/gtest.h>

#include <thread>

namespace executor {
namespace {

TEST(TraceRecorder, KeepsTheLastSteps) {
  TraceRecorder recorder({2}, std::chrono::steady_clock::now());
  for (const std::int64_t step : {4, 5, 6}) {
    recorder.begin_step(step);
    recorder.begin_task();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    recorder.end_task({.key = {.stage = sim::StageIndex(0), .phase = sim::Phase::Forward, .operation = sim::Operation::Mlp}});
    recorder.end_step({});
  }
  const std::vector<sim::MeasuredStep> steps = recorder.steps();
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps.front().step, 5);
  ASSERT_EQ(steps.front().spans.size(), 1U);
  const sim::Span& span = steps.front().spans.front();
  EXPECT_GE(span.end - span.start, std::chrono::milliseconds(2));
  EXPECT_LE(span.end, steps.front().duration);
  EXPECT_GE(steps.back().start, steps.front().start + steps.front().duration) << "on one clock";
}

}  // namespace
}  // namespace executor
