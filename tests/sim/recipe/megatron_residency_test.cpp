#include "sim/recipe/megatron_residency.h"

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

ImportedPlan read_placed(const std::string& more, const std::string& stages = "2") {
  return testing::imported("--tensor-model-parallel-size 1 --pipeline-model-parallel-size " + stages +
                               " --micro-batch-size 1 --global-batch-size 8 --seq-length 32 --bf16 --use-distributed-optimizer " + more +
                               "\n",
                           {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{4})});
}

TEST(MegatronResidency, ModulesSendWhatTheySaveToTheHost) {
  const ParallelPlan plan =
      read_placed("--fine-grained-activation-offloading --offload-modules core_attn attn_proj --min-offloaded-tensor-size 5000").plan;
  EXPECT_EQ(to_text(plan.offload_modules), "core_attn,attn_proj");
  EXPECT_EQ(plan.offload_least, 5000);
  EXPECT_TRUE(read_placed("--offload-modules core_attn").plan.offload_modules.none());  // without the switch
  const std::string text = testing::main_text(kMegatron, plan);
  EXPECT_THAT(text, HasSubstr("--fine-grained-activation-offloading"));
  EXPECT_THAT(text, HasSubstr("--offload-modules core_attn attn_proj"));
  EXPECT_THAT(text, HasSubstr("--min-offloaded-tensor-size 5000"));
  EXPECT_THAT(testing::refused_by(kTorchtitan, plan), HasSubstr("/offload_modules"));
}

TEST(MegatronResidency, InputsOfRecomputedBlocksAreAModuleOfLaterReleases) {
  const std::string offloads = "--fine-grained-activation-offloading --offload-modules layer_input ";
  EXPECT_TRUE(
      read_placed(offloads + "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1").plan.offload_activations);
  EXPECT_FALSE(read_placed(offloads).plan.offload_activations);
  const ImportedPlan both = read_placed(
      "--fine-grained-activation-offloading --offload-modules qkv_linear fused_group_mlp --recompute-granularity full "
      "--recompute-method uniform --recompute-num-layers 1");
  EXPECT_TRUE(both.plan.offload_modules.none());
  EXPECT_THAT(testing::text_of(both.lost), HasSubstr("holds fused_group_mlp"));
  EXPECT_THAT(testing::text_of(both.lost), HasSubstr("with recompute full blocks keep their inputs alone; the plan is without it"));
}

TEST(MegatronResidency, TheFirstBlocksSendAllThatTheyKeep) {
  const std::string offloads = "--cpu-offloading --cpu-offloading-num-layers 2 ";
  const ParallelPlan plan = read_placed(offloads, "1").plan;
  EXPECT_EQ(plan.offload_modules, kSentToHost);
  EXPECT_EQ(plan.offload_blocks, 2);
  EXPECT_EQ(plan.offload_least, 0);
  const std::string text = testing::main_text(kMegatron, plan);
  EXPECT_THAT(text, HasSubstr("--cpu-offloading-num-layers 2"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("--offload-modules")));
  EXPECT_TRUE(read_placed("--cpu-offloading", "1").plan.offload_modules.none()) << "of no layer";
  EXPECT_TRUE(read_placed("--cpu-offloading-num-layers 2", "1").plan.offload_modules.none());
  EXPECT_THAT(testing::text_of(read_placed(offloads).unknown), HasSubstr("with which Megatron-Core refuses it"));
  const ImportedPlan again =
      read_placed(offloads + "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1", "1");
  EXPECT_TRUE(again.plan.offload_modules.none());
  EXPECT_THAT(testing::text_of(again.lost),
              HasSubstr("cpu-offloading: sends what modules have saved to the host, but with recompute full"));
  ParallelPlan some = plan;
  some.offload_modules = Module::Mlp;
  EXPECT_THAT(testing::refused_by(kMegatron, some), HasSubstr("/offload_modules"));
}

TEST(MegatronResidency, GradientsOfTheHeadsWeightsWait) {
  const ParallelPlan some = read_placed("--defer-embedding-wgrad-compute --wgrad-deferral-limit 2").plan;
  EXPECT_EQ(some.delay_head_wgrad, 2);
  EXPECT_THAT(testing::main_text(kMegatron, some), HasSubstr("--wgrad-deferral-limit 2"));
  const ParallelPlan all = read_placed("--defer-embedding-wgrad-compute").plan;
  EXPECT_GE(all.delay_head_wgrad, all.num_microbatches());
  EXPECT_THAT(testing::main_text(kMegatron, all), HasSubstr("--wgrad-deferral-limit 0"));
  EXPECT_EQ(read_placed("--wgrad-deferral-limit 2").plan.delay_head_wgrad, 0);
  const ImportedPlan alone = read_placed("--defer-embedding-wgrad-compute", "1");
  EXPECT_EQ(alone.plan.delay_head_wgrad, 0);
  EXPECT_THAT(testing::text_of(alone.lost), HasSubstr("there is one stage; the plan is without it"));
}

}  // namespace
}  // namespace sim
