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
  EXPECT_EQ(test::exampleSimulation(sim::Fold::None)->graph.devices().size(), 4u);
}

TEST(SimulatedPlan, RefusesABrokenPlan) {
  sim::ParallelPlan plan = test::examplePlan();
  plan.mesh.tensor = 3;
  EXPECT_THROW(simulatePlan(plan), sim::InputError);
}

// What is listed adds up to what the memory curve shows, at every sample of every device.
TEST(SimulatedPlan, WhatIsAliveAddsUp) {
  const SharedPlan simulated = test::exampleSimulation();
  std::size_t looked = 0;
  for (std::size_t at = 0; at < simulated->result.timeline.memory.size(); at += 7, ++looked) {
    const sim::MemorySample& sample = simulated->result.timeline.memory[at];
    const bool last_of_moment =
        at + 1 >= simulated->result.timeline.memory.size() || simulated->result.timeline.memory[at + 1].time != sample.time;
    if (!last_of_moment) continue;
    sim::MemoryBreakdown sum{};
    for (const AliveItem& item : aliveAt(*simulated, {sample.device, sample.time}))
      sum[static_cast<std::size_t>(item.category)] += item.amount;
    EXPECT_EQ(sum, sample.alive) << "device " << sample.device.value() << " at " << sample.time.count();
  }
  EXPECT_GT(looked, 5u);
}

TEST(SimulatedPlan, LargestFirst) {
  const SharedPlan simulated = test::exampleSimulation();
  const std::vector<AliveItem> items = aliveAt(*simulated, {sim::DeviceId(0), simulated->result.step_time / 2});
  ASSERT_GT(items.size(), 2u);
  for (std::size_t at = 1; at < items.size(); ++at) EXPECT_GE(items[at - 1].amount, items[at].amount);
}

TEST(SimulatedPlan, Summary) {
  EXPECT_EQ(summaryOf(test::examplePlan()), "data 2 \u00d7 tensor 1 \u00d7 pipeline 2, 1f1b, 4 microbatches of 1, ZeRO 0, recompute none");
}

}  // namespace
}  // namespace gui
