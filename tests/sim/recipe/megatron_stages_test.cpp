#include "sim/recipe/megatron_stages.h"

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

TEST(MegatronStages, LayersThatStagesDoNotDivideAreTold) {
  const std::string line =
      "--num-layers 10 --hidden-size 64 --num-attention-heads 4 --micro-batch-size 1 --seq-length 32 --max-position-embeddings 32 --bf16 ";
  const RecipeContext context{.model = std::nullopt, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8}), .vocabulary = 1024};
  const auto told_of = [&](const std::string& more) { return testing::text_of(testing::imported(line + more + "\n", context).unknown); };
  EXPECT_THAT(told_of("--pipeline-model-parallel-size 4"), HasSubstr("num-layers: is 10 on 4 virtual stages"));
  EXPECT_EQ(told_of("--pipeline-model-parallel-size 2"), "");
  EXPECT_EQ(told_of("--pipeline-model-parallel-size 4 --decoder-first-pipeline-num-layers 4"), "");
  EXPECT_EQ(told_of("--pipeline-model-parallel-size 4 --deepspeed --zero-stage 1"), "");
}

}  // namespace
}  // namespace sim
