#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

TEST(OrderCsv, IsTheOrderAndNothingElse) {
  ParallelPlan plan = testing::gpu_plan({.data = 1, .pipeline = 2});
  plan.workload.global_batch = 2;
  EXPECT_EQ(testing::main_text(kPipelineOrder, plan), "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
}
TEST(OrderCsv, OneStageHasNone) {
  EXPECT_THAT(testing::refused_by(kPipelineOrder, testing::gpu_plan({.data = 2})), ::testing::HasSubstr("/mesh/pipeline"));
}

}  // namespace
}  // namespace sim
