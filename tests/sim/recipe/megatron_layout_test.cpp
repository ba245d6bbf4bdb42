#include "sim/recipe/megatron_layout.h"

#include <fmt/format.h>

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

TEST(MegatronLayout, CountsTheBlocksOfEachVirtualStage) {
  ParallelPlan plan = testing::gpu_plan({.data = 1, .pipeline = 4});
  plan.model.layers = 6;
  plan.cut.first = {LayerIndex(0), LayerIndex(1), LayerIndex(3), LayerIndex(6)};
  EXPECT_EQ(layout_text(plan), "E|t*2|t*3|t*1L");
}

TEST(MegatronLayout, LayersThatPredictFurtherTokensStandInFrontOfTheHead) {
  ParallelPlan plan = testing::gpu_plan({.data = 1, .pipeline = 2});
  plan.model.layers = 4;
  plan.model.mtp_layers = 2;
  plan.cut.first = {LayerIndex(0), LayerIndex(4)};
  EXPECT_EQ(layout_text(plan), "Et*3|t*1mmL");
}

TEST(MegatronLayout, BothPlacesSayHowManyPredictFurtherTokens) {
  const auto read = [](const std::string& words, std::int32_t stages = 2) {
    return testing::imported(
        fmt::format("--tensor-model-parallel-size 1 --pipeline-model-parallel-size {} --bf16 --micro-batch-size 1 --global-batch-size 8 "
                    "--seq-length 32 {}",
                    stages, words),
        {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{stages})});
  };
  const ImportedPlan both = read("--mtp-num-layers 1 --pipeline-model-parallel-layout 'Ett|ttmL'");
  EXPECT_EQ(both.plan.model.mtp_layers, 1);
  EXPECT_THAT(both.lost, ::testing::IsEmpty());
  EXPECT_EQ(read("--pipeline-model-parallel-layout 'Ett|ttmL'").plan.model.mtp_layers, 1) << "said there alone";
  EXPECT_THROW(read("--mtp-num-layers 2 --pipeline-model-parallel-layout 'Ett|ttmL'"), InputError);
  const ImportedPlan apart = read("--mtp-num-layers 1 --pipeline-model-parallel-layout 'Ett|t|tm|L'", 4);
  EXPECT_TRUE(apart.plan.model.mtp_apart);
  EXPECT_THAT(apart.lost, ::testing::IsEmpty());
  EXPECT_EQ(apart.plan.cut.first, (std::vector{LayerIndex(0), LayerIndex(3), LayerIndex(4), LayerIndex(6)}));
  EXPECT_EQ(layout_text(apart.plan), "Et*2|t*1|t*1m|L");
  EXPECT_THROW(read("--mtp-num-layers 2 --pipeline-model-parallel-layout 'Ett|t|tm|mL'", 4), InputError);
}

// Its usual layout (docs of Megatron-LM, user guide of DeepSeek-V3): 61 blocks on 16 stages of two chunks, what predicts a further token alone in front of
// the stage of the head.
TEST(MegatronLayout, OfDeepSeekV3IsReadAndWrittenAsItIs) {
  const ModelConfig network = load_model_config("profiles/models/deepseek-v3.json");
  const ImportedPlan imported = testing::imported(
      "--tensor-model-parallel-size 1 --pipeline-model-parallel-size 16 --expert-model-parallel-size 64 --bf16 --micro-batch-size 1 "
      "--global-batch-size 8192 --seq-length 4096 --use-distributed-optimizer --mtp-num-layers 1 "
      "--pipeline-model-parallel-layout 'Et*3|(tt|)*29m|L'",
      {.model = network, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{1024})});
  const ParallelPlan& plan = imported.plan;
  ASSERT_THAT(violations(plan), ::testing::IsEmpty());
  EXPECT_TRUE(plan.model.mtp_apart);
  EXPECT_EQ(plan.chunks, 2);
  EXPECT_EQ(plan.predicting(), LayerIndex(62));
  EXPECT_EQ(plan.head(), LayerIndex(63));
  EXPECT_EQ(plan.reader_stage(), StageIndex(14));
  EXPECT_EQ(plan.site(plan.virtual_stage(plan.head())).stage, StageIndex(15));
  std::string written = "Et*3";
  for (int part = 0; part < 29; ++part) written += "|t*2";
  EXPECT_EQ(layout_text(plan), written + "|m|L");
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
