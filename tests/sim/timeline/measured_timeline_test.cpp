#include "sim/timeline/measured_timeline.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

MeasuredStep measured_step(std::int64_t number, SimTime start, SimTime duration) {
  MeasuredStep step;
  step.step = number;
  step.start = start;
  step.duration = duration;
  step.spans = {{.device = DeviceId(0), .stream = Stream::Compute, .key = {}, .start = SimTime(0), .end = duration}};
  return step;
}

ParallelPlan two_stage_plan() {
  ParallelPlan plan;
  plan.mesh.pipeline = 2;
  return plan;
}

std::vector<RankTrace> two_rank_traces() {
  std::vector<RankTrace> traces(2);
  traces[0].rank = Rank(0);
  traces[0].steps = {measured_step(1, SimTime(0), SimTime(900)), measured_step(2, SimTime(1000), SimTime(10)),
                     measured_step(3, SimTime(2000), SimTime(30)), measured_step(4, SimTime(3000), SimTime(20))};
  traces[1].rank = Rank(1);
  traces[1].clock_offset = SimTime(5);
  traces[1].steps = {measured_step(1, SimTime(0), SimTime(900)), measured_step(4, SimTime(3002), SimTime(40))};
  return traces;
}

TEST(MeasuredTimeline, TakesTheMedianStepAndAlignsTheRanks) {
  const Timeline timeline = median_step(two_stage_plan(), two_rank_traces(), {.steps = 1}).timeline;
  ASSERT_EQ(timeline.spans.size(), 2u);
  EXPECT_EQ(timeline.spans[0].start, SimTime(0));
  EXPECT_EQ(timeline.spans[0].end, SimTime(20));
  EXPECT_EQ(timeline.spans[1].start, SimTime(7));
  EXPECT_EQ(timeline.spans[1].device, DeviceId(1));
  EXPECT_EQ(timeline.devices[1].stage, StageIndex(1));
}

TEST(MeasuredTimeline, NothingIsLeftAfterTooLongAWarmUp) {
  EXPECT_TRUE(median_step(two_stage_plan(), two_rank_traces(), {.steps = 9}).timeline.spans.empty());
}

}  // namespace
}  // namespace sim
