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
  EXPECT_THAT(testing::text_of(plan.lost), HasSubstr("tp-comm-overlap"));
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

}  // namespace
}  // namespace sim
