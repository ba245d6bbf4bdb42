#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

RecipeContext llama_for_lightning(std::int32_t devices) {
  return {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{devices}), .sequence = 32, .microbatch = 2};
}
ImportedPlan trained_with(const std::string& trainer, std::int32_t devices = 8) {
  return testing::imported("seed_everything: 7\ntrainer:\n  accumulate_grad_batches: 4\n" + trainer, llama_for_lightning(devices));
}

// A schedule of accumulation, a search for the batch: what they do stands in no other setting.
TEST(Lightning, CallbacksThatMayChangeAStepAreTold) {
  const auto unknown = [](const std::string& callback) {
    return testing::text_of(
        trained_with("  strategy: ddp\n  precision: bf16-mixed\n  callbacks:\n  - class_path: " + callback + "\n").unknown);
  };
  EXPECT_THAT(unknown("lightning.pytorch.callbacks.GradientAccumulationScheduler"),
              HasSubstr("GradientAccumulationScheduler' is not known"));
  EXPECT_THAT(unknown("of_ours.Callback"), HasSubstr("of_ours.Callback"));
  EXPECT_EQ(unknown("lightning.pytorch.callbacks.ModelCheckpoint"), "");
}

struct ShortName {
  std::string_view strategy;
  std::int32_t stage;
  bool host_optimizer, host_weights;
  OnDrive on_drive = OnDrive::None;
};
TEST(Lightning, ShortNamesOfStrategies) {
  for (const ShortName& named :
       {ShortName{"ddp", 0, false, false}, ShortName{"fsdp", 3, false, false}, ShortName{"fsdp_cpu_offload", 3, true, true},
        ShortName{"deepspeed", 2, false, false}, ShortName{"deepspeed_stage_1", 1, false, false},
        ShortName{"deepspeed_stage_2_offload", 2, true, false}, ShortName{"deepspeed_stage_3_offload", 3, true, true},
        ShortName{"deepspeed_stage_3_offload_nvme", 3, true, true, OnDrive::Both}}) {
    SCOPED_TRACE(std::string(named.strategy));
    const ParallelPlan plan = trained_with(fmt::format("  strategy: {}\n  precision: bf16-mixed\n", named.strategy)).plan;
    EXPECT_EQ(plan.zero_stage, named.stage);
    EXPECT_EQ(plan.offload_optimizer, named.host_optimizer);
    EXPECT_EQ(plan.offload_parameters, named.host_weights);
    EXPECT_EQ(plan.on_drive, named.on_drive);
    EXPECT_EQ(plan.mesh.data, 8);
    EXPECT_EQ(plan.num_microbatches(), 4);
    EXPECT_EQ(plan.training.seed, 7U);
  }
  EXPECT_THAT(testing::refusal_of("trainer:\n  accumulate_grad_batches: 1\n  strategy: colossalai\n", llama_for_lightning(8)),
              HasSubstr("no plan is for it"));
}

// autocast leaves weights in fp32; FSDP sums their gradients in 16 bit; DeepSpeed has 16-bit weights and masters; "true" has one type.
TEST(Lightning, WhatAPrecisionKeeps) {
  const auto kept = [](const std::string& strategy, const std::string& precision) {
    return to_text(trained_with("  strategy: " + strategy + "\n  precision: " + precision + "\n").plan.workload.precision);
  };
  EXPECT_EQ(kept("ddp", "bf16-mixed"), "bf16 weights=fp32");
  EXPECT_EQ(kept("fsdp", "bf16-mixed"), "bf16 weights=fp32 wire=bf16");
  EXPECT_EQ(kept("deepspeed_stage_3", "16-mixed"), "fp16");
  EXPECT_EQ(kept("fsdp", "bf16-true"), "bf16 masters=bf16");
  EXPECT_EQ(kept("ddp", "32-true"), "fp32");
  EXPECT_THAT(testing::refusal_of("trainer:\n  accumulate_grad_batches: 1\n  precision: int8\n", llama_for_lightning(8)),
              HasSubstr("'int8'"));
}

// no_sync is DDP's alone: other strategies reduce with every microbatch.
TEST(Lightning, OnlyDdpWaitsForTheLastMicrobatch) {
  EXPECT_EQ(trained_with("  strategy: ddp\n").plan.accumulation, Accumulation::ReduceLast);
  EXPECT_EQ(trained_with("  strategy: fsdp\n").plan.accumulation, Accumulation::ReduceEach);
  EXPECT_EQ(trained_with("  strategy: deepspeed_stage_2\n").plan.accumulation, Accumulation::ReduceEach);
}

TEST(Lightning, ClassesWithArguments) {
  const ImportedPlan read = trained_with(
      "  devices: 4\n  num_nodes: 2\n  strategy:\n    class_path: lightning.pytorch.strategies.FSDPStrategy\n    init_args:\n"
      "      sharding_strategy: SHARD_GRAD_OP\n      cpu_offload: true\n      auto_wrap_policy: [my.Block]\n"
      "      activation_checkpointing_policy: [my.Block]\n      state_dict_type: sharded\n");
  EXPECT_FALSE(read.plan.reshard_after_forward);
  EXPECT_TRUE(read.plan.offload_parameters);
  EXPECT_EQ(read.plan.recompute, Recompute::Full);
  EXPECT_THAT(testing::text_of(read.notes), ::testing::Not(HasSubstr("auto_wrap_policy")));
  const ParallelPlan cut = trained_with(
                               "  strategy:\n    class_path: lightning.pytorch.strategies.ModelParallelStrategy\n    init_args:\n"
                               "      tensor_parallel_size: 2\n      data_parallel_size: 4\n")
                               .plan;
  EXPECT_EQ(cut.mesh, (DeviceMesh{.data = 4, .pipeline = 1, .tensor = 2}));
  EXPECT_EQ(cut.zero_stage, 3);
}

TEST(Lightning, ADegreeThatIsNoneIsTold) {
  EXPECT_THAT(testing::refusal_of("trainer:\n  accumulate_grad_batches: 1\n  strategy:\n    class_path: ModelParallelStrategy\n"
                                  "    init_args:\n      tensor_parallel_size: two\n",
                                  llama_for_lightning(8)),
              HasSubstr("tensor_parallel_size"));
}

// FairScale in Lightning 1: OSS and ShardedDataParallel.
TEST(Lightning, ShardedIsFairScales) {
  const ParallelPlan plan = trained_with("  gpus: 8\n  strategy: ddp_sharded\n  precision: 16\n").plan;
  EXPECT_EQ(plan.zero_stage, 2);
  EXPECT_EQ(plan.state_shards, StateShards::Tensors);
  EXPECT_EQ(plan.weight_sync, WeightSync::Broadcast);
}

TEST(Lightning, WhatIsNotOfThePlanIsTold) {
  const ImportedPlan read = trained_with(
      "  strategy: ddp\n  sync_batchnorm: true\n  max_epochs: 3\n  new_option: 3\nmodel:\n  class_path: my.Model\ndata:\n  init_args:\n"
      "    batch_size: 4\n    path: here\n");
  EXPECT_EQ(read.plan.microbatch_size, 4);
  EXPECT_THAT(testing::text_of(read.lost), AllOf(HasSubstr("sync_batchnorm"), HasSubstr("model.class_path")));
  EXPECT_THAT(testing::text_of(read.unknown), HasSubstr("new_option"));
}

TEST(Lightning, PlansGoAndComeBack) {
  for (const DeviceMesh& mesh : {DeviceMesh{.data = 8}, DeviceMesh{.data = 4, .tensor = 2}})
    for (const std::int32_t stage : {0, 1, 2, 3}) {
      ParallelPlan plan = testing::gpu_plan(mesh);
      plan.workload.precision = Precision::Bf16;
      plan.zero_stage = stage;
      if (mesh.tensor > 1 && stage < 3) continue;
      take_habits(kLightning, plan);
      plan.accumulation = stage >= 2 && plan.num_microbatches() > 1 ? Accumulation::ReduceEach : Accumulation::ReduceLast;
      const ImportedPlan read = testing::imported(testing::main_text(kLightning, plan), testing::context_of(plan));
      EXPECT_EQ(plan_hash(read.plan), plan_hash(plan)) << stage;
      EXPECT_THAT(read.unknown, ::testing::IsEmpty());
    }
}

TEST(Lightning, RefusesWhatHasNoPlaceThere) {
  ParallelPlan plan = testing::gpu_plan({.data = 2, .pipeline = 2, .tensor = 2});
  plan.sequence_parallel = true;
  EXPECT_THAT(testing::refused_by(kLightning, plan),
              AllOf(HasSubstr("/mesh/pipeline"), HasSubstr("/sequence_parallel"), HasSubstr("/mesh/tensor")));
}

// Hydra makes the trainer from a file in which its arguments stand at the top.
TEST(Lightning, ATrainerOfHydra) {
  const RecipeContext context{
      .model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{2}), .sequence = 32, .microbatch = 4};
  const std::string file =
      "_target_: lightning.pytorch.trainer.Trainer\naccelerator: gpu\ndevices: 2\nprecision: bf16-mixed\naccumulate_grad_batches: 8\n";
  const ParallelPlan plan = testing::imported(file, context).plan;
  EXPECT_EQ(plan.workload.global_batch, 64);
  EXPECT_EQ(plan.workload.precision.compute(), Precision::Bf16);
  const std::string strategy = "strategy:\n  _target_: lightning.pytorch.strategies.FSDPStrategy\n  sharding_strategy: SHARD_GRAD_OP\n";
  const ParallelPlan sharded = testing::imported(file + strategy, context).plan;
  EXPECT_EQ(sharded.zero_stage, 3);
  EXPECT_FALSE(sharded.reshard_after_forward);
  EXPECT_NE(testing::refusal_of("_target_: transformers.Trainer\ndevices: 2\naccumulate_grad_batches: 8\n", context), "");
}

}  // namespace
}  // namespace sim
