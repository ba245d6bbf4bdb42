#include "sim/timeline/critical_path.h"

#include <gmock/gmock.h>

#include "tests/sim/timeline/steps.h"

namespace sim {
namespace {

TEST(CriticalPath, AddsUpToTheStep) {
  testing::for_random_steps(12, [](const testing::Step& step) {
    const CriticalPath path = critical_path(step.dependencies, step.timeline);
    SimTime open{};
    for (const CriticalLink& link : path.links) {
      ASSERT_EQ(link.begin - link.delay, open);
      ASSERT_LE(link.begin, link.end);
      ASSERT_EQ(path.slack[link.span], SimTime(0)) << to_text(step.timeline.spans[link.span].key);
      open = link.end;
    }
    EXPECT_EQ(open, step.result.step_time);
    SimTime sum{};
    for (const CriticalKind& kind : critical_kinds(path, step.timeline)) sum += kind.time;
    EXPECT_EQ(sum, step.result.step_time);
  });
}

// Equal stages: every path through the pipeline is as long. A slow last stage: all its work is on the path, and what runs beside it has slack.
TEST(CriticalPath, RunsThroughTheSlowStage) {
  constexpr std::int32_t kMicrobatches = 6;
  const testing::Step step = testing::pipeline_step(*find_schedule("1f1b"), {3, kMicrobatches, 1}, {10, 20, 5});
  const CriticalPath path = critical_path(step.dependencies, step.timeline);
  SimTime on_last{};
  for (const CriticalLink& link : path.links)
    if (step.timeline.spans[link.span].device == DeviceId(2)) on_last += link.end - link.begin;
  EXPECT_EQ(on_last, SimTime(kMicrobatches * (10 + 20 + 2 * 5)));
  EXPECT_EQ(step.result.step_time, on_last + SimTime(2 * (10 + 20)));
  SimTime most{};
  for (const SimTime slack : path.slack) most = std::max(most, slack);
  EXPECT_GT(most, SimTime(0));
}

// What slack promises: a task that is late by its slack leaves the step as it is, and by a picosecond more makes it longer.
TEST(CriticalPath, SlackIsWhatATaskMayBeLate) {
  const testing::Step step = testing::pipeline_step(*find_schedule("gpipe"), {2, 3, 1}, {10, 20, 7});
  const CriticalPath path = critical_path(step.dependencies, step.timeline);
  for (std::size_t late = 0; late < path.slack.size(); ++late)
    for (const std::int64_t more : {0, 1}) {
      std::vector<SimTime> end(step.dependencies.activities.size());
      SimTime last{};
      for (const std::int32_t at : step.dependencies.order) {
        const auto activity = static_cast<std::size_t>(at);
        SimTime begin{};
        for (std::size_t from = 0; from < end.size(); ++from) {
          const auto [first, behind] = boost::adjacent_vertices(from, step.dependencies.edges);
          if (std::find(first, behind, activity) != behind) begin = std::max(begin, end[from]);
        }
        end[activity] = begin + step.dependencies.activities[activity].work();
        if (activity == late) end[activity] += path.slack[late] + SimTime(more);
        last = std::max(last, end[activity]);
      }
      EXPECT_EQ(last, step.result.step_time + SimTime(more));
    }
}

}  // namespace
}  // namespace sim
