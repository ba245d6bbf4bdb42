#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

TEST(MegatronBridge, AFileOfOverridesBecomesAPlan) {
  const ImportedPlan plan = testing::imported(
      "model:\n  tensor_model_parallel_size: 2\n  sequence_parallel: true\n  recompute_granularity: full\n  recompute_method: uniform\n"
      "  recompute_num_layers: 1\n  tp_comm_overlap: true\n  new_kernel: 3\n"
      "train:\n  micro_batch_size: 1\n  global_batch_size: 8\n  train_iters: 20\ndataset:\n  seq_length: 32\n"
      "ddp:\n  use_distributed_optimizer: true\n  overlap_grad_reduce: true\nmixed_precision: bf16_mixed\nlogger:\n  log_interval: 1\n",
      {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{4})});
  EXPECT_EQ(plan.program, &kMegatronBridge);
  EXPECT_EQ(plan.plan.mesh, (DeviceMesh{.data = 2, .tensor = 2}));
  EXPECT_EQ(plan.plan.zero_stage, 1);
  EXPECT_EQ(plan.plan.recompute, Recompute::Full);
  EXPECT_EQ(plan.plan.bucket_size, Bytes(160'000'000));
  EXPECT_THAT(testing::text_of(plan.unknown), HasSubstr("model.new_kernel: '3' is not known"));
  EXPECT_TRUE(plan.plan.sends_along_products());
  EXPECT_THAT(plan.without_effect, ::testing::UnorderedElementsAre("train-iters", "logger.log_interval"));
}

// Variables that somebody fills in before it is read; and what the recipe under it may set is asked for.
TEST(MegatronBridge, VariablesOfYaml) {
  const std::string text =
      "model:\n  tensor_model_parallel_size: ${TP}\n  seq_length: 32\ntrain:\n  micro_batch_size: 1\n  global_batch_size: "
      "${GBS}\n"
      "scheduler:\n  lr_warmup_iters: 10\n";
  RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{4})};
  EXPECT_THAT(testing::refusal_of(text, context), ::testing::AllOf(HasSubstr("is '$TP'"), HasSubstr("--set GBS=")));
  context.given = {{"TP", "2"}, {"GBS", "8"}};
  const ImportedPlan read = testing::imported(text, context);
  EXPECT_EQ(read.program, &kMegatronBridge);
  EXPECT_EQ(read.plan.mesh, (DeviceMesh{.data = 2, .tensor = 2}));
  EXPECT_EQ(read.plan.workload.global_batch, 8);
  EXPECT_THAT(testing::text_of(read.unknown), HasSubstr("use_distributed_optimizer"));
}

TEST(MegatronBridge, WhatCannotBeSaidHasARemedy) {
  ParallelPlan plan = testing::gpu_plan({.data = 1, .pipeline = 2});
  plan.workload.sequence = 64;
  plan.schedule = "zb-1p";
  EXPECT_THAT(testing::refused_by(kMegatronBridge, plan), ::testing::AllOf(HasSubstr("/schedule"), HasSubstr("--fix schedule")));
  plan.schedule = "1f1b";
  EXPECT_EQ(testing::refused_by(kMegatronBridge, plan), "");
}

// Overrides alone: what the recipe under them may set is taken as its package has it, and told first.
TEST(MegatronBridge, WhatOverridesLeaveOutIsTakenAsUsualAndTold) {
  const ImportedPlan read = testing::imported(
      "model:\n  tensor_model_parallel_size: 2\n  seq_length: 32\ntrain:\n  micro_batch_size: 1\n  global_batch_size: 8\nscheduler:\n  "
      "lr_warmup_iters: 1\nddp:\n  overlap_param_gather: false\n",
      {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{4})});
  EXPECT_EQ(read.plan.workload.precision.compute(), Precision::Bf16);
  EXPECT_EQ(read.plan.zero_stage, 1);
  EXPECT_FALSE(read.plan.overlap_weight_gather);
  ASSERT_FALSE(read.unknown.empty());
  const std::string told = testing::text_of(read.unknown);
  EXPECT_THAT(told, ::testing::AllOf(HasSubstr("mixed_precision as bf16_mixed"), HasSubstr("model.context_parallel_size as 1")));
  EXPECT_THAT(told, ::testing::Not(HasSubstr("tensor_model_parallel_size")));
}

// DDP's own word counts where no policy of types stands beside it.
TEST(MegatronBridge, GradientsOfDdpWithoutAPolicy) {
  const auto read = [](const std::string& more) {
    return to_text(
        testing::imported("model:\n  tensor_model_parallel_size: 1\n  seq_length: 32\n  bf16: true\ntrain:\n  micro_batch_size: 1\n  "
                          "global_batch_size: 4\nscheduler:\n  lr_warmup_iters: 1\nddp:\n  grad_reduce_in_fp32: false\n" +
                              more,
                          {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{4})})
            .plan.workload.precision);
  };
  EXPECT_EQ(read(""), "bf16");
  EXPECT_EQ(read("mixed_precision: bf16_mixed\n"), "bf16 gradients=fp32");
}

// Overrides in an array of a script, with variables that it fills in.
TEST(MegatronBridge, OverridesThatAScriptFillsIn) {
  const std::string text =
      "TP=\"${TP:-2}\"\nHOME_OF=\"$(dirname \"$ROOT\")/run\"\nARGS=(\n  --recipe some_config\n  --hf_path \"$HF\"\n"
      "  model.tensor_model_parallel_size=\"$TP\"\n  model.recompute_granularity=full\n  model.recompute_method=uniform\n"
      "  model.recompute_num_layers=1\n  train.global_batch_size=16\n  train.micro_batch_size=1\n  dataset.seq_length=32\n"
      "  checkpoint.save=\"$HOME_OF\"\n)\n\"$PYTHON\" -u -m torch.distributed.run --nproc_per_node=8 run_recipe.py \"${ARGS[@]}\"\n";
  RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  const ParallelPlan plan = testing::imported(text, context).plan;
  EXPECT_EQ(plan.mesh.tensor, 2);
  EXPECT_EQ(plan.mesh.data, 4);
  EXPECT_EQ(plan.recompute, Recompute::Full);
  EXPECT_EQ(plan.num_microbatches(), 4);
}

TEST(MegatronBridge, MegatronsOwnScriptInItsFolder) {
  const std::string text =
      "torchrun --nproc_per_node=8 /opt/Megatron-Bridge/3rdparty/pretrain_gpt.py --tensor-model-parallel-size 2 "
      "--micro-batch-size 1 --global-batch-size 16 --seq-length 32 --bf16\n";
  RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  EXPECT_EQ(testing::imported(text, context).program, &kMegatron);
}

// One pair beside the joint product of queries, keys and values, as it is built there.
TEST(MegatronBridge, Adapters) {
  const std::string text =
      "model:\n  tensor_model_parallel_size: 1\ntrain:\n  global_batch_size: 8\n  micro_batch_size: 1\nscheduler:\n  a: 1\n"
      "dataset:\n  seq_length: 32\npeft:\n  dim: 4\n  alpha: 8\n  dropout: 0\n  target_modules: [linear_qkv, linear_proj]\n";
  RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  EXPECT_EQ(to_text(testing::imported(text, context).plan.model.adapters), "rank 4 alpha 8 on qkv,o");
}

// The line says what is trained; its overrides change it.
TEST(MegatronBridge, AdaptersThatTheLineAsksFor) {
  const auto adapters = [](const std::string& more) {
    const std::string text = "torchrun --nproc_per_node=8 run_recipe.py --recipe some_config " + more +
                             " model.tensor_model_parallel_size=1 train.global_batch_size=8 train.micro_batch_size=1 "
                             "dataset.seq_length=32\n";
    RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
    return to_text(testing::imported(text, context).plan.model.adapters);
  };
  EXPECT_EQ(adapters("--mode lora"), "rank 32 on qkv,o,gate_up,down");
  EXPECT_EQ(adapters("--peft_scheme lora peft.dim=4"), "rank 4 alpha 32 on qkv,o,gate_up,down");
  EXPECT_EQ(adapters("--mode=lora"), adapters("--mode lora"));
  EXPECT_EQ(adapters("--peft_scheme=lora --mode=finetune"), adapters("--mode lora"));
  EXPECT_EQ(adapters("--mode pretrain"), adapters(""));
}

constexpr std::string_view kOverrides =
    " model.tensor_model_parallel_size=1 train.global_batch_size=16 train.micro_batch_size=1 dataset.seq_length=32\n";
RecipeContext llama_of_bridge(std::int32_t devices) {
  return {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{devices})};
}

TEST(MegatronBridge, AdaptersThatNoPlanHasAreRefused) {
  const auto refusal = [](const std::string& option) {
    return testing::refusal_of("torchrun --nproc_per_node=8 run_recipe.py " + option + std::string(kOverrides), llama_of_bridge(8));
  };
  EXPECT_THAT(refusal("--peft qlora"), HasSubstr("qlora: no plan trains so"));
  EXPECT_THAT(refusal("--mode=dora"), HasSubstr("dora: no plan trains so"));
  for (const std::string option : {"--mode $MODE", "--mode=$MODE"}) EXPECT_THAT(refusal(option), HasSubstr("--set MODE=")) << option;
}

TEST(MegatronBridge, ProcessesOfTheLauncherAreTheDevices) {
  const auto line = [](const std::string& launcher) { return launcher + " run_recipe.py --recipe some_config" + std::string(kOverrides); };
  const std::string stated = line("torchrun --nproc_per_node=8 --nnodes=2");
  EXPECT_EQ(testing::imported(stated, llama_of_bridge(16)).plan.mesh.data, 16);
  EXPECT_THAT(testing::refusal_of(stated, llama_of_bridge(8)), HasSubstr("starts 16 processes"));
  for (const std::string open : {"torchrun --nproc_per_node=8 --nnodes=$NODES", "srun torchrun --nproc-per-node 8"})
    EXPECT_EQ(testing::imported(line(open), llama_of_bridge(16)).plan.mesh.data, 16) << open;
}

}  // namespace
}  // namespace sim
