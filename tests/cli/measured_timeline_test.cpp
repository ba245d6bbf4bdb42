#include "cli/measured_timeline.h"

#include <gmock/gmock.h>

namespace cli {
namespace {

using sim::SimTime;

sim::MeasuredStep step(std::int64_t number, SimTime start, SimTime duration) {
  sim::MeasuredStep step;
  step.step = number;
  step.start = start;
  step.duration = duration;
  step.spans = {{.device = sim::DeviceId(0), .stream = sim::Stream::Compute, .key = {}, .start = SimTime(0), .end = duration}};
  return step;
}

sim::ParallelPlan two_stages() {
  sim::ParallelPlan plan;
  plan.mesh.pipeline = 2;
  return plan;
}

std::vector<sim::RankTrace> traces() {
  std::vector<sim::RankTrace> traces(2);
  traces[0].rank = sim::Rank(0);
  traces[0].steps = {step(1, SimTime(0), SimTime(900)), step(2, SimTime(1000), SimTime(10)), step(3, SimTime(2000), SimTime(30)), step(4, SimTime(3000), SimTime(20))};
  traces[1].rank = sim::Rank(1);
  traces[1].clock_offset = SimTime(5);
  traces[1].steps = {step(1, SimTime(0), SimTime(900)), step(4, SimTime(3002), SimTime(40))};
  return traces;
}

TEST(MeasuredTimeline, TakesTheMedianStepAndAlignsTheRanks) {
  const sim::Timeline timeline = median_step(two_stages(), traces(), {.steps = 1});
  ASSERT_EQ(timeline.spans.size(), 2u);
  EXPECT_EQ(timeline.spans[0].start, SimTime(0));
  EXPECT_EQ(timeline.spans[0].end, SimTime(20));
  EXPECT_EQ(timeline.spans[1].start, SimTime(7));
  EXPECT_EQ(timeline.spans[1].device, sim::DeviceId(1));
  EXPECT_EQ(timeline.devices[1].stage, sim::StageIndex(1));
}

TEST(MeasuredTimeline, NothingIsLeftAfterTooLongAWarmUp) { EXPECT_TRUE(median_step(two_stages(), traces(), {.steps = 9}).spans.empty()); }

}  // namespace
}  // namespace cli
