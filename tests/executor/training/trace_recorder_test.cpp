#include "executor/training/trace_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/executor/checked_device/checked_device.h"

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

// It ends in this step, and is shown from where the step begins.
TEST(TraceRecorder, ATaskMayHaveBegunBeforeItsStep) {
  const auto begun = std::chrono::steady_clock::now();
  TraceRecorder recorder({1}, begun);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  recorder.begin_step(1);
  recorder.add_task({.key = {.stage = sim::StageIndex(0), .phase = sim::Phase::Gradients, .operation = sim::Operation::AllReduce}},
                    {.begun = begun, .ended = std::chrono::steady_clock::now()});
  recorder.end_step({});
  EXPECT_EQ(recorder.last().spans.front().start, sim::SimTime{});
  EXPECT_LE(recorder.last().spans.front().end, recorder.last().duration);
}

// Beside the events of a device, what the host did for it is on the host's clock.
TEST(TraceRecorder, TasksOfTheHostHaveItsClock) {
  const DeviceStreams streams(checked_device());
  TraceRecorder recorder({1}, std::chrono::steady_clock::now(), checked_device());
  recorder.begin_step(0, streams.now_on(DeviceStream::Compute));
  for (const DeviceStream stream : {DeviceStream::Compute, DeviceStream::Host, DeviceStream::Compute}) {
    recorder.begin_task(streams.now_on(stream));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    recorder.end_task({.key = {.stage = sim::StageIndex(0), .phase = sim::Phase::Step, .operation = sim::Operation::HostUpdate}},
                      streams.now_on(stream));
  }
  recorder.end_step({});
  const std::vector<sim::MeasuredStep> steps = recorder.steps();
  const std::vector<sim::Span>& spans = steps.front().spans;
  ASSERT_EQ(spans.size(), 3U);
  for (const sim::Span& span : spans) EXPECT_GE(span.end - span.start, std::chrono::milliseconds(2));
  EXPECT_LE(spans[0].end - std::chrono::milliseconds(1), spans[1].start);
  EXPECT_LE(spans[1].end - std::chrono::milliseconds(1), spans[2].start);
}

// Asked for at once, or read while the next step is computed: the same spans, each step its own.
TEST(TraceRecorder, EventsOfAStepAreReadInTheNext) {
  const DeviceStreams streams(checked_device());
  TraceRecorder recorder({4}, std::chrono::steady_clock::now(), checked_device());
  for (const std::int64_t step : {0, 1, 2}) {
    recorder.begin_step(step, streams.now_on(DeviceStream::Compute));
    recorder.begin_task(streams.now_on(DeviceStream::Compute));
    std::this_thread::sleep_for(std::chrono::milliseconds(2 + 4 * step));
    recorder.end_task({.key = {.stage = sim::StageIndex(0), .phase = sim::Phase::Forward, .operation = sim::Operation::Mlp}},
                      streams.now_on(DeviceStream::Compute));
    recorder.end_step({.ledger = {},
                       .spans = step == 1 ? TraceRecorder::Spans::Some : TraceRecorder::Spans::All,
                       .now = streams.now_on(DeviceStream::Compute)});
    if (step == 0) continue;
    const sim::Span span = recorder.last().spans.front();
    EXPECT_GE(span.end - span.start, std::chrono::milliseconds(2 + 4 * step));
    EXPECT_LE(span.end, recorder.duration() + std::chrono::milliseconds(1)) << "the event of the beginning comes first";
  }
  const std::vector<sim::MeasuredStep> steps = recorder.steps();
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps.back().step, 2);
  EXPECT_GE(steps.front().spans.front().end - steps.front().spans.front().start, std::chrono::milliseconds(2));
  EXPECT_GE(steps.back().spans.front().end - steps.back().spans.front().start, std::chrono::milliseconds(10));
}

// The host's clock costs nothing; two events a task do.
TEST(TraceRecorder, OfALongRunOnADeviceASampleIsTimed) {
  const auto timed = [](c10::Device device) {
    TraceRecorder recorder({64}, std::chrono::steady_clock::now(), device);
    std::vector<std::int64_t> steps;
    for (std::int64_t step = 7; step < 67; ++step) {  // as a run that was resumed
      recorder.begin_step(step);
      recorder.end_step({});
    }
    for (const sim::MeasuredStep& step : recorder.steps()) steps.push_back(step.step);
    return steps;
  };
  const std::vector<std::int64_t> some = timed(checked_device());
  ASSERT_EQ(some.size(), 34U);
  EXPECT_EQ(some[31], 38);
  EXPECT_THAT(some, testing::IsSupersetOf({41, 58}));
  EXPECT_EQ(timed(c10::kCPU).size(), 60U);
}

}  // namespace
}  // namespace executor
