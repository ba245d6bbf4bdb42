#include <gmock/gmock.h>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

TEST(RecomputeRules, NeedsWhatItIsOf) {
  ParallelPlan plan = testing::tiny_plan();
  plan.recompute_scope.modules = Module::LayerNorm;
  EXPECT_EQ(violations(plan).size(), 1u);
  plan.recompute = Recompute::Selective;
  EXPECT_TRUE(violations(plan).empty());
  plan.recompute_scope.first = 2;
  EXPECT_EQ(violations(plan).size(), 1u);
  plan.recompute = Recompute::Full;
  EXPECT_EQ(violations(plan).size(), 1u);
  plan.recompute_scope.modules = {};
  EXPECT_TRUE(violations(plan).empty());
}

TEST(RecomputeRules, BlocksTogetherAreAllBlocks) {
  ParallelPlan plan = testing::tiny_plan();
  plan.recompute = Recompute::Full;
  plan.recompute_scope.together = 2;
  EXPECT_THAT(violations(plan), ::testing::IsEmpty());
  for (const auto& breaks : std::initializer_list<void (*)(ParallelPlan&)>{
           [](ParallelPlan& p) { p.zero_stage = 3; }, [](ParallelPlan& p) { p.recompute_scope.every = 2; },
           [](ParallelPlan& p) { p.recompute_scope.first = 2; }, [](ParallelPlan& p) { p.recompute = Recompute::None; }}) {
    ParallelPlan wrong = plan;
    breaks(wrong);
    EXPECT_EQ(violations(wrong).size(), 1u);
  }
}

}  // namespace
}  // namespace sim
