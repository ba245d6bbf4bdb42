#include "sim/recipe/megatron_network.h"
#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

RecipeContext llamas(std::int32_t devices, const std::string& device = "h100-80gb-sxm") {
  return {.model = testing::tiny_llama(), .cluster = load_cluster(device, DeviceCount{devices})};
}

TEST(MegatronFields, NoNameStandsTwice) {
  std::vector<std::string> names;
  for (const Field& field : megatron_fields()) names.emplace_back(field.key);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(MegatronFields, BlocksWithoutScales) {
  const auto precision_of = [](const std::string& arguments) {
    const std::string rest = " --micro-batch-size 2 --global-batch-size 8 --seq-length 32 --num-attention-heads 4 ";
    return to_text(testing::imported("pretrain.py --tensor-model-parallel-size 1 --bf16 " + arguments + rest, llamas(4, "b200-180gb-sxm"))
                       .plan.workload.precision);
  };
  EXPECT_EQ(precision_of("--fp8-format hybrid --fp8-recipe tensorwise --first-last-layers-bf16"),
            "fp8:tensorwise gradients=fp32 blocks:0,3=bf16");
  EXPECT_EQ(precision_of("--fp4-format e2m1 --first-last-layers-bf16 --num-layers-at-start-in-bf16 0 --num-layers-at-end-in-bf16 2"),
            "fp4:nvfp4 gradients=fp32 blocks:2-3=bf16");
  EXPECT_EQ(precision_of("--fp8-format hybrid --fp8-recipe tensorwise --num-layers-at-end-in-bf16 2"), "fp8:tensorwise gradients=fp32")
      << "how many, and none are asked for";
  EXPECT_EQ(precision_of("--first-last-layers-bf16"), "bf16 gradients=fp32") << "so are all";
}

TEST(MegatronFields, BlocksWithoutScalesAreThoseOfTheEnds) {
  ParallelPlan plan = testing::gpu_plan({.data = 2});
  const PrecisionPolicy scaled =
      PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Tensorwise, true).with(Numbers::Gradients, Precision::Fp32);
  plan.workload.precision = scaled.with_unscaled({{0, 0}, {3, 3}});
  EXPECT_THAT(testing::main_text(kMegatron, plan),
              ::testing::AllOf(HasSubstr("--first-last-layers-bf16"), HasSubstr("--num-layers-at-end-in-bf16 1")));
  plan.workload.precision = scaled.with_unscaled({{1, 2}});
  EXPECT_THAT(testing::refused_by(kMegatron, plan), HasSubstr("blocks 1-2 are without scales"));
  EXPECT_THAT(testing::refused_by(kTorchtitan, plan), HasSubstr("/workload/precision"));
}

TEST(MegatronFields, OldNames) {
  const std::string rest = " --num-attention-heads 4 --seq-length 32 --batch-size 2 ";
  const ParallelPlan plan =
      testing::imported("pretrain.py --model-parallel-size 2 --checkpoint-activations --checkpoint-num-layers 1 --fp16" + rest, llamas(4))
          .plan;
  EXPECT_EQ(plan.mesh.tensor, 2);
  EXPECT_EQ(plan.microbatch_size, 2);
  EXPECT_EQ(plan.recompute, Recompute::Full);
  EXPECT_EQ(to_text(plan.workload.precision), "fp16");
}

// Each kind of device has stages of its own.
TEST(MegatronFields, StagesOfKindsOfDevices) {
  const std::string text = "train.py --hetero-mode pp --hetero-pipeline-stages 1 3 1 1 --seq-length 32 --micro-batch-size 2 ";
  const ParallelPlan plan = testing::imported(text, llamas(4)).plan;
  EXPECT_EQ(plan.mesh, (DeviceMesh{.data = 2, .pipeline = 2}));
  EXPECT_THAT(blocks_of(plan), ElementsAre(3, 1));
  EXPECT_THAT(testing::refusal_of(text + "--pipeline-model-parallel-size 4", llamas(4)), HasSubstr("has 2 stages"));
  EXPECT_THAT(testing::refusal_of("train.py --hetero-pipeline-stages 3 1 --seq-length 32 --micro-batch-size 2", llamas(4)),
              HasSubstr("no list of stages"));
}

TEST(MegatronFields, EmbeddingAndLossCountAsBlocks) {
  RecipeContext context = llamas(3);
  const ImportedPlan plan = testing::imported(
      "--pipeline-model-parallel-size 3 --account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split --micro-batch-size "
      "1 "
      "--global-batch-size 4 --seq-length 32",
      context);
  EXPECT_THAT(blocks_of(plan.plan), ElementsAre(1, 2, 1));
}

// The new name of the method is of a granularity; the old one stood alone.
TEST(MegatronFields, AMethodWithoutAGranularity) {
  const std::string line = "--tensor-model-parallel-size 2 --micro-batch-size 1 --seq-length 32 --bf16 ";
  const ImportedPlan read = testing::imported(line + "--recompute-method uniform --recompute-num-layers 1\n", llamas(8));
  EXPECT_EQ(read.plan.recompute, Recompute::None);
  EXPECT_THAT(testing::text_of(read.unknown), HasSubstr("without recompute-granularity: nothing is recomputed"));
  EXPECT_EQ(testing::imported(line + "--activations-checkpoint-method uniform\n", llamas(8)).plan.recompute, Recompute::Full);
  EXPECT_EQ(testing::imported(line + "--recompute-method block --recompute-in-advance\n", llamas(8)).plan.recompute, Recompute::Full);
}

// Megatron-DeepSpeed's inputs of recomputed blocks go to the host; without such blocks there are none.
TEST(MegatronFields, WordsOfMegatronDeepSpeed) {
  const std::string line = "--tensor-model-parallel-size 2 --micro-batch-size 1 --seq-length 32 --fp16 ";
  const ParallelPlan plan =
      testing::imported(line + "--checkpoint-activations --recompute-method uniform --checkpoint-in-cpu --gas 3\n", llamas(8)).plan;
  EXPECT_EQ(plan.recompute, Recompute::Full);
  EXPECT_TRUE(plan.offload_activations);
  EXPECT_EQ(plan.num_microbatches(), 3);
  EXPECT_FALSE(testing::imported(line + "--checkpoint-in-cpu --global-batch-size 8\n", llamas(8)).plan.offload_activations);
}

TEST(MegatronFields, BlocksOfStagesInPairs) {
  const std::string line = "--tensor-model-parallel-size 1 --pipeline-model-parallel-size 3 --micro-batch-size 1 --seq-length 32 --bf16 ";
  RecipeContext context = llamas(3);
  context.global_batch = 6;
  EXPECT_THAT(blocks_of(testing::imported(line + "--num-layers-per-stage 2 1 1 2\n", context).plan), ElementsAre(1, 1, 2));
  EXPECT_THAT(blocks_of(testing::imported(line + "--num-layer-list 2,1,1\n", context).plan), ElementsAre(2, 1, 1));  // MindSpeed
  EXPECT_THAT(testing::refusal_of(line + "--num-layer-list 2,2,1\n", context), HasSubstr("cuts 5 blocks into 3 chunks"));
  EXPECT_THAT(testing::refusal_of(line + "--num-layer-list two,two\n", context), HasSubstr("a number of layers for each stage is needed"));
  EXPECT_THAT(testing::refusal_of(line + "--num-layers-per-stage 2 2\n", context), HasSubstr("is of 2 stages"));
}

TEST(MegatronFields, AnOrderOfMindSpeed) {
  const std::string line =
      "--tensor-model-parallel-size 1 --pipeline-model-parallel-size 2 --micro-batch-size 1 --global-batch-size 16 "
      "--seq-length 32 --bf16 --schedules-method ";
  const ParallelPlan plan = testing::imported(line + "dualpipev\n", llamas(4)).plan;
  EXPECT_EQ(plan.schedule, "dualpipev");
  EXPECT_EQ(plan.chunks, 2);
  EXPECT_NE(testing::refusal_of(line + "of-ours\n", llamas(4)), "");
}

// What no plan has is told, not left out.
TEST(MegatronFields, StepsThatPlansHaveNotAreTold) {
  const auto lost_of = [](const std::string& more) {
    return testing::text_of(
        testing::imported("--tensor-model-parallel-size 2 --micro-batch-size 1 --global-batch-size 8 --seq-length 32 --bf16 " + more + "\n",
                          llamas(8))
            .lost);
  };
  EXPECT_THAT(lost_of("--main-params-dtype fp16"), ::testing::Not(HasSubstr("main-params-dtype")));
  EXPECT_THAT(lost_of("--DDP-impl torch"), HasSubstr("reduced beside the backward"));
  EXPECT_THAT(lost_of("--DDP-impl local"), ::testing::Not(HasSubstr("DDP-impl")));
  EXPECT_THAT(lost_of("--optimizer-selection fused_ema_adamw"), HasSubstr("averages of all weights"));
  EXPECT_THAT(lost_of("--optimizer muon --muon-num-ns-steps 7"), HasSubstr("is 7: the plan's matrices take 5 steps"));
  EXPECT_THAT(lost_of("--optimizer muon --muon-num-ns-steps 5"), ::testing::Not(HasSubstr("muon-num-ns-steps")));
  EXPECT_THAT(lost_of("--optimizer muon --muon-tp-mode duplicated"), HasSubstr("tensor ranks meet for each matrix"));
}

}  // namespace
}  // namespace sim
