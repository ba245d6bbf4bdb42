#include "sim/timeline/dependencies.h"

#include <gmock/gmock.h>

#include "tests/sim/timeline/steps.h"

namespace sim {
namespace {

// In a simulation work begins the moment that nothing is in its way, and every span has its task.
TEST(Dependencies, ExplainEveryMomentOfASimulation) {
  testing::for_random_steps(12, [](const testing::Step& step) {
    EXPECT_EQ(step.dependencies.end, step.result.step_time);
    for (const std::int64_t span : step.dependencies.span_of) ASSERT_GE(span, 0);
    if (step.is_issued) return;  // by a host that may be late
    for (const Activity& activity : step.dependencies.activities)
      ASSERT_EQ(activity.delay(), SimTime(0)) << to_text(step.graph.task(activity.task).key);
  });
}

TEST(Dependencies, OrderHoldsEachActivityBehindWhatItWaitsFor) {
  testing::for_random_steps(4, [](const testing::Step& step) {
    SimTime latest_begin{};
    for (const std::int32_t at : step.dependencies.order) {
      const Activity& activity = step.dependencies.activities[static_cast<std::size_t>(at)];
      EXPECT_LE(activity.before.exists() ? step.dependencies.of(activity.before).end : SimTime(0), activity.begin);
      latest_begin = std::max(latest_begin, activity.begin);
    }
    EXPECT_LE(latest_begin, step.dependencies.end);
  });
}

// What a run lost between two tasks is a delay of the second one.
TEST(Dependencies, ATaskThatBeganLateHasADelay) {
  testing::Step step = testing::pipeline_step(*find_schedule("gpipe"), {1, 2, 1}, {10, 20});
  for (Span& span : step.timeline.spans)
    if (span.start >= SimTime(20)) span.start += SimTime(7), span.end += SimTime(7);
  const Dependencies late = dependencies_of(step.graph, step.timeline, StreamOrder::Overlapping);
  SimTime delays{};
  for (const Activity& activity : late.activities) delays += activity.delay();
  EXPECT_EQ(delays, SimTime(7));
  EXPECT_EQ(late.end, step.result.step_time + SimTime(7));
}

}  // namespace
}  // namespace sim
