#include "sim/recipe/primus.h"

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

std::string of_megatron(const std::string& overrides) {
  return "work_group: ${TEAM:amd}\nexp_name: mine\nmodules:\n  pre_trainer:\n    framework: megatron\n    config: pre_trainer.yaml\n"
         "    model: llama2_7B.yaml\n    overrides:\n      micro_batch_size: 1\n      global_batch_size: 16\n      seq_length: 32\n"
         "      tensor_model_parallel_size: 2\n" +
         overrides;
}
RecipeContext on_eight() { return {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})}; }

// What Primus' own file has, and this one does not say, is taken and told.
TEST(Primus, ItsOwnFileStandsBelow) {
  const ImportedPlan read = testing::imported(of_megatron("      enable_primus_turbo: true\n"), on_eight());
  EXPECT_EQ(read.program, &kMegatron);
  EXPECT_EQ(read.plan.mesh.tensor, 2);
  EXPECT_EQ(read.plan.workload.precision.compute(), Precision::Bf16);
  EXPECT_EQ(read.plan.zero_stage, 1);
  EXPECT_THAT(testing::text_of(read.unknown), ::testing::AllOf(HasSubstr("taken of it: bf16, use-distributed-optimizer"),
                                                               HasSubstr("llama2_7B.yaml"), ::testing::Not(HasSubstr("work-group"))));
  EXPECT_THAT(testing::text_of(read.lost), HasSubstr("Primus' own"));
}

TEST(Primus, WhatTheFileSaysStandsAboveIt) {
  const ParallelPlan plan = testing::imported(of_megatron("      fp16: true\n      use_distributed_optimizer: false\n"), on_eight()).plan;
  EXPECT_EQ(plan.workload.precision.compute(), Precision::Fp16);
  EXPECT_EQ(plan.zero_stage, 0);
}

TEST(Primus, IsKnownByItsFramework) {
  EXPECT_TRUE(is_of_primus("a: 1\nmodules:\n  x:\n    framework: torchtitan\n    overrides:\n      b: 1\n", "torchtitan"));
  EXPECT_FALSE(is_of_primus("a: 1\nframework: megatron\n", "megatron"));
}

}  // namespace
}  // namespace sim
