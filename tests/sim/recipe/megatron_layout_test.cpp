#include "sim/recipe/megatron_layout.h"

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

TEST(MegatronLayout, CountsTheBlocksOfEachVirtualStage) {
  ParallelPlan plan = testing::gpu_plan({.data = 1, .pipeline = 4});
  plan.model.layers = 6;
  plan.cut.first = {LayerIndex(0), LayerIndex(1), LayerIndex(3), LayerIndex(6)};
  EXPECT_EQ(layout_text(plan), "E|t*2|t*3|t*1L");
}

TEST(MegatronLayout, IsReadAsPeopleWriteIt) {
  const auto cut = [](const std::string& layout) {
    return testing::imported(
               "--tensor-model-parallel-size 1 --pipeline-model-parallel-size 2 --bf16 --micro-batch-size 1 --global-batch-size 8 "
               "--seq-length 32 "
               "--pipeline-model-parallel-layout '" +
                   layout + "'",
               {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{2})})
        .plan.cut.first;
  };
  const std::vector<LayerIndex> even = {LayerIndex(0), LayerIndex(3)};
  for (const char* same : {"Et*2|t*2L", "Ett|ttL", "E,tt|(t)*2,L"}) EXPECT_EQ(cut(same), even) << same;
}

}  // namespace
}  // namespace sim
