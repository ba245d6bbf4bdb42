// That no simulation is below the bounds is held over random plans in tests/sim/engine/simulate_test.cpp. Here: that they are not idle.
#include "sim/cost/lower_bound.h"

#include <gtest/gtest.h>

#include "sim/cost/memory_model.h"
#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

TEST(LowerBound, AStageIsAllItsMicrobatches) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 2, .tensor = 1});
  const ModelGraph model = make_model_graph(plan);
  const SimTime eight = compute_lower_bound(model, plan, StageIndex(0));
  plan.workload.global_batch = 16;
  EXPECT_EQ(compute_lower_bound(model, plan, StageIndex(0)), 2 * eight);
}

TEST(LowerBound, RecomputationIsWork) {
  ParallelPlan plan = testing::tiny_plan();
  const ModelGraph model = make_model_graph(plan);
  const SimTime without = compute_lower_bound(model, plan, StageIndex(0));
  plan.recompute = Recompute::Full;
  EXPECT_GT(compute_lower_bound(model, plan, StageIndex(0)), without);
}

TEST(LowerBound, AStepHoldsTheWayThroughThePipeline) {
  const ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 4, .tensor = 1});
  const ModelGraph model = make_model_graph(plan);
  for (StageIndex stage{0}; stage.value() < 4; ++stage) EXPECT_GE(step_lower_bound(model, plan), compute_lower_bound(model, plan, stage));
  EXPECT_GT(step_lower_bound(model, plan), compute_lower_bound(model, plan, StageIndex(3)));
}

TEST(LowerBound, MemoryHoldsWhatIsResident) {
  const ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 2, .tensor = 1});
  const ModelGraph model = make_model_graph(plan);
  EXPECT_GT(memory_lower_bound(model, plan), total(MemoryModel(model, plan).resident(StageIndex(0))) * 99 / 100);
}

}  // namespace
}  // namespace sim
