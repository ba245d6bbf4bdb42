#include "sim/cost/plan_likeness.h"

#include <gtest/gtest.h>

#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

TEST(PlanLikeness, DegreesNumbersAndKindsMakeADifference) {
  const ParallelPlan plan = testing::tiny_plan();
  const Likeness home = likeness_of(plan);
  const auto changed = [&](auto change) {
    ParallelPlan other = plan;
    change(other);
    return alike(home, likeness_of(other));
  };
  EXPECT_EQ(changed([](ParallelPlan&) {}), 1);
  EXPECT_LT(changed([](ParallelPlan& p) { p.mesh.tensor *= 2; }), 1);
  EXPECT_LT(changed([](ParallelPlan& p) { p.microbatch_size *= 2; }), 1);
  EXPECT_LT(changed([](ParallelPlan& p) { p.model.experts = ExpertForm{.experts = 4, .topk = 2}; }), 0.5);
  EXPECT_LT(changed([](ParallelPlan& p) { p.workload.precision = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Tensorwise, false); }),
            0.6);
  EXPECT_LT(changed([](ParallelPlan& p) { p.model.adapters = Adapters{}; }), 0.5);
}

}  // namespace
}  // namespace sim
