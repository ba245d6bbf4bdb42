#include "sim/recipe/oumi.h"

#include <fstream>

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

RecipeContext llama_for_oumi() { return {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})}; }

constexpr std::string_view kSectionsOfOumi =
    "model:\n  model_name: here/llama\n  model_max_length: 32\n  torch_dtype_str: bfloat16\n  trust_remote_code: true\n"
    "data:\n  train:\n    datasets:\n      - dataset_name: mine\n"
    "training:\n  trainer_type: TRL_SFT\n  per_device_train_batch_size: 2\n  gradient_accumulation_steps: 4\n"
    "  enable_gradient_checkpointing: true\n  optimizer: adamw_torch_fused\n  enable_wandb: true\n  output_dir: out\n";

TEST(Oumi, SectionsAreTheTrainersArguments) {
  const ImportedPlan read =
      testing::imported(std::string(kSectionsOfOumi) +
                            "fsdp:\n  enable_fsdp: true\n  sharding_strategy: FULL_SHARD\n  transformer_layer_cls: LlamaDecoderLayer\n",
                        llama_for_oumi());
  EXPECT_EQ(read.program, &kTrainer);
  EXPECT_EQ(read.plan.zero_stage, 3);
  EXPECT_EQ(read.plan.microbatch_size, 2);
  EXPECT_EQ(read.plan.workload.global_batch, 64);
  EXPECT_EQ(read.plan.workload.sequence, 32);
  EXPECT_EQ(read.plan.recompute, Recompute::Full);
  EXPECT_EQ(to_text(read.plan.workload.precision), "bf16 masters=bf16");
  EXPECT_THAT(read.unknown, IsEmpty());
}

TEST(Oumi, WhatIsOffChangesNothing) {
  const ImportedPlan read = testing::imported(
      std::string(kSectionsOfOumi) +
          "fsdp:\n  enable_fsdp: false\n  cpu_offload: true\ndeepspeed:\n  enable_deepspeed: true\n  zero_stage: ZERO_2\n",
      llama_for_oumi());
  EXPECT_EQ(read.plan.zero_stage, 2);
  EXPECT_FALSE(read.plan.offload_parameters);
}

TEST(Oumi, AdaptersAndOtherSteps) {
  const std::string lora = std::string(kSectionsOfOumi) +
                           "  use_peft: true\npeft:\n  lora_r: 4\n  lora_alpha: 8\n  q_lora: true\n  lora_target_modules:\n    - q_proj\n";
  const ModelConfig model = testing::imported(lora, llama_for_oumi()).plan.model;
  ASSERT_TRUE(model.adapters);
  EXPECT_EQ(model.adapters->rank, 4);
  EXPECT_EQ(model.adapters->base, BaseFormat::Nf4);
  std::string preferences(kSectionsOfOumi);
  preferences.replace(preferences.find("TRL_SFT"), 7, "TRL_DPO");
  EXPECT_THAT(testing::refusal_of(preferences, llama_for_oumi()), HasSubstr("training.trainer_type: is TRL_DPO"));
}

TEST(Oumi, ALineWithItsFile) {
  std::ofstream(testing::recipe_folder() + "/mine.yaml") << kSectionsOfOumi;
  const ImportedPlan read = testing::imported(
      "oumi distributed torchrun --nproc_per_node 8 -m oumi train -c configs/mine.yaml --training.gradient_accumulation_steps 2\n",
      llama_for_oumi());
  EXPECT_EQ(read.plan.workload.global_batch, 32);
}

// Bits count where weights have fewer at all.
TEST(Oumi, BitsOfFrozenWeights) {
  const auto base_by = [](const std::string& words) {
    const std::string peft = "  use_peft: true\npeft:\n  lora_r: 4\n  lora_target_modules:\n    - q_proj\n";
    const ImportedPlan read = testing::imported(std::string(kSectionsOfOumi) + peft + words, llama_for_oumi());
    EXPECT_THAT(testing::text_of(read.unknown), ::testing::Not(HasSubstr("bits")));
    return read.plan.model.adapters->base;
  };
  EXPECT_EQ(base_by("  q_lora: true\n  q_lora_bits: 8\n"), BaseFormat::Int8);
  EXPECT_EQ(base_by("  q_lora: true\n  q_lora_bits: 4\n"), BaseFormat::Nf4);
  EXPECT_EQ(base_by("  q_lora: true\n"), BaseFormat::Nf4);
  EXPECT_EQ(base_by("  q_lora: false\n  q_lora_bits: 4\n"), BaseFormat::Weights);
}

// What it hands on to TRL's own arguments.
TEST(Oumi, ArgumentsOfTheTrainerItself) {
  const ImportedPlan read = testing::imported(std::string(kSectionsOfOumi) + "  trainer_kwargs:\n    packing: true\n", llama_for_oumi());
  EXPECT_THAT(testing::text_of(read.lost), HasSubstr("packing: several documents"));
  EXPECT_THAT(read.unknown, ::testing::SizeIs(1));  // that no layout is named
}

}  // namespace
}  // namespace sim
