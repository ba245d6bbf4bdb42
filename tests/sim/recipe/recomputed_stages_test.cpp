#include "sim/recipe/recomputed_stages.h"

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Of 12 blocks on four stages.
ImportedPlan read_stages_of(const std::string& more) {
  return testing::imported(
      "--tensor-model-parallel-size 1 --pipeline-model-parallel-size 4 --micro-batch-size 1 --global-batch-size 64 --seq-length 32 --bf16 "
      "--max-position-embeddings 32 --num-layers 12 --hidden-size 64 --num-attention-heads 4 --recompute-granularity full " +
          more,
      {.model = std::nullopt, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8}), .vocabulary = 1024});
}
std::string scope_said(const std::string& more) { return to_text(read_stages_of(more).plan.recompute_scope); }

TEST(RecomputedStages, PairsSayANumberForSoManyStages) {
  EXPECT_EQ(
      scope_said("--recompute-method uniform --recompute-num-layers 1 --recompute-method-per-stage 4 1 --recompute-num-layers-per-stage 1 "
                 "3 2 1 1 0"),
      "first 3,1,1,0");
  EXPECT_EQ(scope_said("--recompute-method-per-stage 1 0 3 1 --recompute-num-layers-per-stage 1 1 3 2"), "first 12,2,2,2")
      << "all of the first stage";
  EXPECT_EQ(scope_said("--recompute-method-per-stage 4 1 --recompute-num-layers-per-stage 4 2"), "first 2") << "one number";
  EXPECT_EQ(scope_said("--recompute-method-per-stage 4 0 --recompute-num-layers-per-stage 4 3"), "together 3");
  EXPECT_THAT(testing::text_of(read_stages_of("--recompute-method-per-stage 3 0 1 1 --recompute-num-layers-per-stage 4 3").lost),
              HasSubstr("3 blocks together"));
}

TEST(RecomputedStages, UniformMakesBlocksAgainTogether) {
  const ImportedPlan two = read_stages_of("--recompute-method uniform --recompute-num-layers 2");
  EXPECT_EQ(to_text(two.plan.recompute_scope), "together 2");
  EXPECT_THAT(two.lost, IsEmpty());
  EXPECT_EQ(scope_said("--recompute-method uniform --recompute-num-layers 64"), "together 12") << "no more than there are";
  EXPECT_EQ(scope_said("--recompute-method uniform --recompute-num-layers 1"), "");
  const ImportedPlan units = read_stages_of(
      "--recompute-method uniform --recompute-num-layers 2 --use-distributed-optimizer --use-megatron-fsdp "
      "--data-parallel-sharding-strategy "
      "optim_grads_params --ckpt-format fsdp_dtensor");
  EXPECT_EQ(to_text(units.plan.recompute_scope), "");
  EXPECT_THAT(testing::text_of(units.lost), HasSubstr("2 blocks are recomputed together, in the plan each by itself"));
}

TEST(RecomputedStages, OneNumberForEachStage) {
  EXPECT_EQ(scope_said("--recompute-method block --custom-recompute-layers-per-stage 3 1 0 0"), "first 3,1,0,0");
  const ImportedPlan none = read_stages_of("--recompute-method block --custom-recompute-layers-per-stage 0 0 0 0");
  EXPECT_EQ(none.plan.recompute, Recompute::None);
  EXPECT_THAT(none.lost, IsEmpty());
}

// NeMo 1: each stage so many fewer than the one in front.
TEST(RecomputedStages, FewerFromStageToStage) {
  const std::string block = "--activations-checkpoint-method block --activations-checkpoint-num-layers 3 ";
  EXPECT_EQ(scope_said(block + "--activations-checkpoint-layers-per-pipeline 1"), "first 3,2,1,0");
  EXPECT_EQ(scope_said(block + "--activations-checkpoint-layers-per-pipeline 2"), "first 3,1,0,0");
  EXPECT_EQ(scope_said(block), "first 3");
}

TEST(RecomputedStages, ANumberForEachStageIsAskedFor) {
  const auto refused = [](const std::string& more) {
    try {
      read_stages_of(more);
      return std::string();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_THAT(refused("--custom-recompute-layers-per-stage 3 1"), HasSubstr("is of 2 stages, and there are 4"));
  EXPECT_THAT(refused("--recompute-num-layers-per-stage 9 1"), HasSubstr("stages, and there are 4"));
  EXPECT_THAT(refused("--custom-recompute-layers-per-stage some"), HasSubstr("is of 0 stages, and there are 4"));
}

TEST(RecomputedStages, NumbersInPairs) {
  using ::testing::ElementsAre;
  EXPECT_THAT(numbers_in_pairs("2 4 1 0", 3), ElementsAre(4, 4, 0));
  EXPECT_THAT(numbers_in_pairs("9 1", 3), ElementsAre(1, 1, 1, 1)) << "one more, so that it is seen";
  EXPECT_THAT(numbers_in_pairs("3", 3), IsEmpty());
}

}  // namespace
}  // namespace sim
