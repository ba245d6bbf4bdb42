#include "gui/core/unfolding.h"

#include <gmock/gmock.h>

#include "tests/gui/example_plans.h"
#include "tests/sim/cost/random_plans.h"

namespace gui {
namespace {

TEST(Unfolding, NumbersSpansAsIfEveryRankWereSimulated) {
  const SharedPlan plan = test::exampleSimulation(Ranks::OneByOne);  // two stages of two ranks
  ASSERT_TRUE(plan->every_rank.has_value());
  const Unfolding& ranks = plan->shown().devices;
  ASSERT_EQ(ranks.devices().size(), 4u);
  const std::uint32_t of_stage0 = plan->picture.devices.devices()[0].size, all = ranks.numSpans();
  EXPECT_EQ(all, 2 * plan->picture.devices.numSpans());
  EXPECT_EQ(ranks.deviceOf(of_stage0 - 1), 0u);
  EXPECT_EQ(ranks.deviceOf(of_stage0), 1u);
  EXPECT_EQ(ranks.positionOf(of_stage0), 0u);
  EXPECT_EQ(ranks.deviceOf(all - 1), 3u);
  EXPECT_EQ(ranks.numberOf(of_stage0), 2 * of_stage0);  // the first span of stage 1, on rank 2
  EXPECT_THAT(ranks.numbersOf({1, of_stage0}), testing::ElementsAre(1, of_stage0 + 1, 2 * of_stage0, ranks.devices()[3].first));
}

TEST(Unfolding, WithoutAFoldIsTheTimelineItself) {
  const SharedPlan plan = test::exampleSimulation();
  const Unfolding same = plan->shown().devices;
  EXPECT_EQ(same.numSpans(), plan->result.timeline.spans.size());
  EXPECT_EQ(same.positionOf(17), 17u);
  EXPECT_EQ(same.numberOf(17), 17u);
  EXPECT_EQ(same.unfolded(plan->result.timeline).spans, plan->result.timeline.spans);
}

TEST(Unfolding, EqualsTheSimulationOfEveryRank) {
  for (const sim::DeviceKind kind : {sim::DeviceKind::Cpu, sim::DeviceKind::Gpu}) {
    sim::testing::PlanGenerator generator(23);
    for (int i = 0; i < 40; ++i) {
      const sim::ParallelPlan plan = generator.next(kind);
      SCOPED_TRACE(sim::testing::describe(plan));
      const SharedPlan shown = simulatePlan(plan, Ranks::OneByOne), simulated = simulatePlan(plan, Ranks::Simulated);
      const sim::Timeline unfolded = shown->shown().devices.unfolded(shown->result.timeline);
      ASSERT_EQ(unfolded.devices.size(), simulated->result.timeline.devices.size());
      EXPECT_EQ(unfolded.spans, simulated->result.timeline.spans);
      EXPECT_EQ(unfolded.memory, simulated->result.timeline.memory);
      for (std::uint32_t span = 0; span < unfolded.spans.size(); ++span) {
        const std::uint32_t position = shown->shown().devices.positionOf(span);
        ASSERT_EQ(shown->critical.slack[position], simulated->critical.slack[span]) << span;
      }
      for (std::size_t rank = 0; rank < unfolded.devices.size(); ++rank)
        EXPECT_EQ(shown->idle[shown->shown().devices.devices()[rank].source.position()], simulated->idle[rank]);
    }
  }
}

// Where the ranks of a class differ, they are simulated.
TEST(Unfolding, UnevenNodesAreSimulatedRankByRank) {
  sim::ParallelPlan plan = test::examplePlan();
  EXPECT_TRUE(foldsExactly(plan));
  plan.cluster.hardware.devices_per_node = 3;
  EXPECT_FALSE(foldsExactly(plan));
  const SharedPlan shown = simulatePlan(plan, Ranks::OneByOne);
  EXPECT_FALSE(shown->every_rank.has_value());
  EXPECT_EQ(shown->shown().devices.devices().size(), 4u);
}

}  // namespace
}  // namespace gui
