#include "gui/core/run_timeline.h"

#include <gmock/gmock.h>

namespace gui {
namespace {

sim::RankTrace traceOf(std::int32_t rank, std::int64_t begin) {
  sim::Span span;
  span.end = sim::SimTime(50);
  sim::MeasuredStep step{.step = 2, .spans = {span}, .ledger = {}};
  step.start = sim::SimTime(begin);
  return {.rank = sim::Rank(rank), .plan_hash = {}, .steps = {step}, .mesh = {.data = 2, .pipeline = 1, .tensor = 1}};
}

TEST(RunTimeline, StepsEndToEndAndTheTasksOfTracedOnes) {
  const std::vector<StepMetrics> metrics = {{.step = 1, .time = sim::Seconds(1e-9)}, {.step = 2, .time = sim::Seconds(2e-9)}};
  const SharedRunTimeline run = runTimeline(metrics, {traceOf(0, 5000), traceOf(1, 5010)});
  ASSERT_EQ(run->core->rows().size(), 3u);
  EXPECT_EQ(run->core->range().end, sim::SimTime(3000));
  EXPECT_THAT(run->core->rows()[0].slices->start, testing::ElementsAre(0, 1000));
  EXPECT_EQ(run->tasks[0].start, sim::SimTime(1000));
  EXPECT_EQ(run->tasks[1].start, sim::SimTime(1010));  // that rank began later
  EXPECT_EQ(run->nameOf(run->core->rows()[0].spanOf(1)), "2");
}

TEST(RunTimeline, WithoutTracesTheStepsAlone) {
  EXPECT_EQ(runTimeline({{.step = 1, .time = sim::Seconds(1)}}, {})->core->rows().size(), 1u);
  EXPECT_EQ(runTimeline({}, {traceOf(0, 0)})->core->numSlices(), 0u);
}

}  // namespace
}  // namespace gui
