#include "sim/recipe/megatron_adapters.h"

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

ImportedPlan read(const std::string& more, const std::string& model = "") {
  RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  if (!model.empty()) context.model = load_model_config(model);
  return testing::imported(
      "megatron sft --tensor_model_parallel_size 2 --micro_batch_size 1 --global_batch_size 8 --max_length 32 " + more + "\n", context);
}

TEST(MegatronAdapters, OfMsSwift) {
  EXPECT_EQ(to_text(read("--train_type lora --lora_rank 4 --lora_alpha 16 --target_modules all-linear").plan.model.adapters),
            "rank 4 alpha 16 on qkv,o,gate_up,down dropout 0.05");
  EXPECT_EQ(to_text(read("--tuner_type lora --lora_dropout 0").plan.model.adapters), "rank 8 alpha 32 on qkv,o,gate_up,down");
  EXPECT_FALSE(read("--tuner_type full --lora_rank 4").plan.model.adapters.has_value());
  EXPECT_FALSE(read("").plan.model.adapters.has_value());
}

TEST(MegatronAdapters, WhatHasNoPairsInAPlanIsTold) {
  const ImportedPlan experts = read("--tuner_type lora --sequence_parallel true", "mixtral-8x7b");
  EXPECT_EQ(to_text(experts.plan.model.adapters), "rank 8 alpha 32 on qkv,o dropout 0.05");
  EXPECT_THAT(testing::text_of(experts.lost), HasSubstr("linear_fc1: a plan has no pairs there"));
}

TEST(MegatronAdapters, OtherTunersAreRefused) {
  const RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  EXPECT_THAT(testing::refusal_of("megatron sft --tuner_type dora --micro_batch_size 1 --max_length 32\n", context),
              HasSubstr("dora: no plan"));
}

TEST(MegatronAdapters, NamesOfMindSpeed) {
  const RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  const ImportedPlan plan = testing::imported(
      "torchrun --nproc_per_node 8 posttrain_gpt.py --tensor-model-parallel-size 2 --micro-batch-size 1 --global-batch-size 8 --seq-length "
      "32 --bf16 --lora-r 8 --lora-alpha 16 --lora-target-modules query_key_value dense dense_h_to_4h dense_4h_to_h\n",
      context);
  EXPECT_EQ(to_text(plan.plan.model.adapters), "rank 8 alpha 16 on qkv,o,gate_up,down");
}

}  // namespace
}  // namespace sim
