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
