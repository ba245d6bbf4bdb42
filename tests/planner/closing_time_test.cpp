#include "planner/closing_time.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "planner/replay.h"
#include "planner/sketch.h"
#include "sim/engine/simulate.h"
#include "tests/planner/every_plan.h"
#include "tests/sim/cost/random_plans.h"

namespace planner {
namespace {

struct Bounds {
  sim::SimTime first{}, walked{}, gathering{}, closing{}, replayed{};
  sim::SimTime closed() const { return std::max(walked, gathering) + closing; }
};

Bounds bounds_of(const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
  const sim::TaskGraph devices = devices_of(model, plan);
  const Pricer pricer(model, plan, devices);
  const std::vector<StageLayerPrices> layers = pricer.layers();
  const std::vector<StageTransfers> transfers = pricer.transfers();
  const std::vector<StageStepPrices> steps = pricer.steps();
  const StageOrders orders = stage_orders(plan);
  const std::vector<PairedActions> paired = plan.expert_overlap ? paired_actions(plan, orders) : std::vector<PairedActions>{};
  return {.first = sketch_time(model, plan, layers, transfers, paired),
          .walked = replay_of_microbatches(model, plan, layers, transfers, orders),
          .gathering = gathering_time(model, plan, {layers, transfers, steps}, orders),
          .closing = closing_time(plan, steps),
          .replayed = replay(model, plan, {layers, transfers, steps}, orders)};
}

// Whatever the schedule, the stage of ZeRO and what overlaps; and it is above the first bound of most.
TEST(ClosingTime, IsNeverAboveReplayOnEverySmallPlan) {
  std::int32_t above = 0, plans = 0;
  on_every_small_plan([&](const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
    if (plan.crosses_norm()) return;
    const Bounds bounds = bounds_of(model, plan);
    EXPECT_LE(bounds.closed().count(), bounds.replayed.count()) << plan.schedule << " zero " << plan.zero_stage;
    EXPECT_GT(bounds.closing.count(), 0);
    EXPECT_LE(bounds.walked.count(), bounds.replayed.count());
    above += bounds.closed() > bounds.first ? 1 : 0;
    ++plans;
  });
  EXPECT_GT(above, plans * 9 / 10);
}

TEST(ClosingTime, IsNeverAboveTheSimulationOfRandomPlansOfPrograms) {
  const std::vector<sim::SoftwareStack> programs = all_sorts_of_programs();
  sim::testing::PlanGenerator generator(5);
  std::int32_t plans = 0, gathering = 0;
  for (int drawn = 0; drawn < 2000; ++drawn) {
    const sim::ParallelPlan plan = generator.next_of_programs(drawn % 4 > 0 ? sim::DeviceKind::Gpu : sim::DeviceKind::Cpu, programs);
    if (has_empty_part(plan) || plan.crosses_norm()) continue;
    const sim::ModelGraph model = make_model_graph(plan);
    const Bounds bounds = bounds_of(model, plan);
    EXPECT_LE(bounds.closed().count(), simulate(model, plan).step_time.count())
        << sim::testing::describe(plan) << " by " << plan.cluster.software.name;
    ++plans;
    gathering += bounds.gathering > bounds.walked ? 1 : 0;
  }
  EXPECT_GT(plans, 1000);
  EXPECT_GT(gathering, 0);
}

}  // namespace
}  // namespace planner
