#include "gui/core/simulated_plan.h"

#include <gmock/gmock.h>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

TEST(SimulatedPlan, HoldsItsTimeline) {
  const SharedPlan simulated = test::exampleSimulation();
  EXPECT_GT(simulated->result.step_time, sim::SimTime(0));
  EXPECT_FALSE(simulated->result.timeline.spans.empty());
  EXPECT_EQ(simulated->graph.devices().size(), 2u);
  EXPECT_EQ(test::exampleSimulation(Ranks::Simulated)->graph.devices().size(), 4u);
}

TEST(SimulatedPlan, RefusesABrokenPlan) {
  sim::ParallelPlan plan = test::examplePlan();
  plan.mesh.tensor = 3;
  EXPECT_THROW(simulatePlan(plan), sim::InputError);
}

TEST(SimulatedPlan, Summary) {
  EXPECT_EQ(summaryOf(test::examplePlan()), "data 2 \u00d7 tensor 1 \u00d7 pipeline 2, 1f1b, 4 microbatches of 1, ZeRO 0, recompute none");
  sim::ParallelPlan once = test::examplePlan();
  once.microbatch_size = 4;
  EXPECT_EQ(summaryOf(once), "data 2 \u00d7 tensor 1 \u00d7 pipeline 2, 1f1b, 1 microbatch of 4, ZeRO 0, recompute none");
}

}  // namespace
}  // namespace gui
