#include "sim/timeline/bubble.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/sim/timeline/steps.h"

namespace sim {
namespace {

bool offloads(const TaskGraph& graph) {
  return std::any_of(graph.tasks().begin(), graph.tasks().end(), [](const Task& task) { return is_of_host(task.stream); });
}

// Busy time and causes are the step, to the picosecond; communication that compute waits for is what the engine says it is.
TEST(Bubble, PartsAddUpExactly) {
  testing::for_random_steps(12, [](const testing::Step& step) {
    const std::vector<IdleTime> times = idle_times(step.dependencies, step.graph);
    ASSERT_EQ(times.size(), step.result.devices.size());
    for (std::size_t device = 0; device < times.size(); ++device) {
      EXPECT_EQ(times[device].computing + times[device].idle(), step.result.step_time);
      EXPECT_EQ(times[device].computing, step.result.devices[device].busy);
      EXPECT_EQ(times[device].of(IdleCause::ExposedCommunication), step.result.devices[device].exposed_communication);
      const SimTime host = times[device].of(IdleCause::Host);
      EXPECT_EQ(offloads(step.graph) || step.is_issued ? SimTime(0) : host, SimTime(0));  // nothing else is the host's in a simulation
    }
    const IdleTime all = all_devices(times, step.graph);
    std::int32_t ranks = 0;
    for (const GraphDevice& device : step.graph.devices()) ranks += device.multiplicity;
    EXPECT_EQ(all.computing + all.idle(), step.result.step_time * ranks);
  });
}

// (p - 1) / (m + p - 1) of the step, and all of it is filling and emptying the pipeline.
TEST(Bubble, OfEqualStagesIsWarmUpAndDrain) {
  for (const char* name : {"gpipe", "1f1b"})
    for (const PipelineShape shape : {PipelineShape{2, 4, 1}, PipelineShape{4, 4, 1}, PipelineShape{4, 12, 1}, PipelineShape{8, 3, 1}}) {
      const testing::Step step = testing::pipeline_step(*find_schedule(name), shape, {10, 20});
      for (const IdleTime& idle : idle_times(step.dependencies, step.graph)) {
        EXPECT_EQ(idle.idle() * (shape.microbatches + shape.stages - 1), step.result.step_time * (shape.stages - 1));
        EXPECT_EQ(idle.of(IdleCause::WarmUp) + idle.of(IdleCause::Drain), idle.idle()) << name;
      }
    }
}

// The stages beside a slow one wait for it in the steady part: as long as they compute less, that is imbalance.
TEST(Bubble, ASlowStageIsImbalanceToTheOthers) {
  const testing::Step step = testing::pipeline_step(*find_schedule("1f1b"), {2, 12, 1}, {10, 20, 5});
  const std::vector<IdleTime> times = idle_times(step.dependencies, step.graph);
  EXPECT_GT(times[0].of(IdleCause::Imbalance), SimTime(0));
  EXPECT_LE(times[0].of(IdleCause::Imbalance), times[1].computing - times[0].computing);
  EXPECT_EQ(times[1].of(IdleCause::Imbalance), SimTime(0));
}

TEST(Bubble, ATaskThatBeganLateIsTheHosts) {
  testing::Step step = testing::pipeline_step(*find_schedule("gpipe"), {1, 2, 1}, {10, 20});
  for (Span& span : step.timeline.spans)
    if (span.start >= SimTime(20)) span.start += SimTime(7), span.end += SimTime(7);
  const Dependencies late = dependencies_of(step.graph, step.timeline, StreamOrder::Overlapping);
  const std::vector<IdleTime> times = idle_times(late, step.graph);
  EXPECT_EQ(times[0].of(IdleCause::Host), SimTime(7));
  EXPECT_EQ(times[0].idle(), SimTime(7));
}

}  // namespace
}  // namespace sim
