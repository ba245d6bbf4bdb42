#include "sim/recipe/accelerate_line.h"

#include <fstream>

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

RecipeContext four_gpus() { return {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{4})}; }

constexpr std::string_view kByFsdp =
    "distributed_type: FSDP\nnum_processes: 4\nmixed_precision: bf16\nfsdp_config:\n  fsdp_sharding_strategy: FULL_SHARD\n"
    "  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n";
constexpr std::string_view kByDeepSpeed =
    "distributed_type: DEEPSPEED\nnum_processes: 4\nmixed_precision: bf16\ndeepspeed_config:\n  zero_stage: 3\n";
constexpr std::string_view kPlain = "distributed_type: MULTI_GPU\nnum_processes: 4\nmixed_precision: bf16\n";

std::string launched_by(const std::string& options, const std::string& behind = "") {
  return "accelerate launch --num_processes 4 " + options + " run_clm.py --per_device_train_batch_size 2 --block_size 32 --bf16" + behind +
         "\n";
}
ImportedPlan with_file(std::string_view file, const std::string& options) {
  std::ofstream(testing::recipe_folder() + "/launch.yaml") << file;
  return testing::imported(launched_by("--config_file launch.yaml " + options), four_gpus());
}
ImportedPlan with_line(const std::string& options, const std::string& behind = "") {
  return testing::imported(launched_by(options, behind), four_gpus());
}

// One of its kinds on the line stands above the file's.
TEST(AccelerateLine, TheLinesKindCounts) {
  for (const std::string_view file : {kByFsdp, kByDeepSpeed}) {
    const ImportedPlan plain = with_file(file, "--multi_gpu");
    EXPECT_EQ(plain.plan.zero_stage, 0);
    EXPECT_THAT(testing::text_of(plain.unknown), HasSubstr("--multi_gpu stands on the line, which counts"));
    EXPECT_EQ(with_file(file, "").plan.zero_stage, 3);
  }
  EXPECT_EQ(with_file(kByFsdp, "--use_deepspeed").plan.zero_stage, 2);
  const ImportedPlan sharded = with_file(kByDeepSpeed, "--use_fsdp --fsdp_auto_wrap_policy TRANSFORMER_BASED_WRAP");
  EXPECT_EQ(sharded.plan.zero_stage, 3);
  EXPECT_EQ(sharded.plan.persistence_threshold, 0);
  EXPECT_EQ(sharded.plan.layers_per_unit, 1);
}

TEST(AccelerateLine, OneSettingOfTheLineCounts) {
  EXPECT_EQ(with_file(kByDeepSpeed, "--zero_stage 2").plan.zero_stage, 2);
  EXPECT_FALSE(with_file(kByFsdp, "--fsdp_sharding_strategy SHARD_GRAD_OP").plan.reshard_after_forward);
  EXPECT_TRUE(with_file(kByFsdp, "--fsdp_offload_params true").plan.offload_parameters);
  EXPECT_TRUE(with_file(kByDeepSpeed, "--offload_optimizer_device cpu").plan.offload_optimizer);
  EXPECT_GT(with_file(kByFsdp, "--fsdp_auto_wrap_policy NO_WRAP").plan.layers_per_unit, 1);
}

TEST(AccelerateLine, WhatTheLineLeavesOpenIsNotTheFiles) {
  const std::string open = "NUM=$(nvidia-smi -L | wc -l)\naccelerate launch --config_file launch.yaml --num_processes=$NUM ";
  std::ofstream(testing::recipe_folder() + "/launch.yaml") << "distributed_type: MULTI_GPU\nnum_processes: 8\nmixed_precision: bf16\n";
  EXPECT_EQ(testing::imported(open + "run_clm.py --per_device_train_batch_size 2 --block_size 32\n", four_gpus()).plan.mesh.data, 4);
  const ImportedPlan read = with_file("distributed_type: MULTI_GPU\nnum_processes: 8\nmixed_precision: bf16\n", "");
  EXPECT_THAT(testing::text_of(read.unknown) + testing::text_of(read.notes), ::testing::Not(HasSubstr("8 processes")));
}

TEST(AccelerateLine, TheTrainersWaysStandAboveIt) {
  std::ofstream(testing::recipe_folder() + "/launch.yaml") << kByFsdp;
  const ImportedPlan read = testing::imported(launched_by("--config_file launch.yaml", " --fsdp \"shard_grad_op auto_wrap\""), four_gpus());
  EXPECT_FALSE(read.plan.reshard_after_forward);
  EXPECT_THAT(testing::text_of(read.unknown), HasSubstr("the Trainer's counts"));
}

// Options of a kind that nobody asks for are handed on to nobody; behind the script they are its own.
TEST(AccelerateLine, OptionsThatNobodyAsksFor) {
  const ImportedPlan plain = with_line("--zero_stage 3");
  EXPECT_EQ(plain.plan.zero_stage, 0);
  EXPECT_THAT(testing::text_of(plain.unknown), HasSubstr("stands without --use_deepspeed"));
  EXPECT_EQ(with_line("--use_deepspeed --zero_stage 3").plan.zero_stage, 3);
  EXPECT_EQ(with_line("", " --zero_stage 2").plan.zero_stage, 2);
  EXPECT_EQ(with_file(kPlain, "--zero_stage 3").plan.zero_stage, 0);
  std::ofstream(testing::recipe_folder() + "/first.json") << R"({"zero_optimization": {"stage": 1}})";
  EXPECT_EQ(with_file(kPlain, "--deepspeed_config_file first.json").plan.zero_stage, 0);
  EXPECT_EQ(with_file(kByDeepSpeed, "--deepspeed_config_file first.json").plan.zero_stage, 1);
  EXPECT_THAT(testing::text_of(with_line("--fsdp_sharding_strategy FULL_SHARD").unknown), HasSubstr("stands without --use_fsdp"));
}

// FSDP 1 has a strategy and FSDP 2 a truth value; each passes over the other's.
TEST(AccelerateLine, EachFsdpHasItsOwnWord) {
  const std::string wraps = "--use_fsdp --fsdp_auto_wrap_policy TRANSFORMER_BASED_WRAP ";
  EXPECT_FALSE(with_line(wraps + "--fsdp_version 2 --fsdp_reshard_after_forward false").plan.reshard_after_forward);
  EXPECT_TRUE(with_line(wraps + "--fsdp_version 2 --fsdp_sharding_strategy SHARD_GRAD_OP").plan.reshard_after_forward);
  EXPECT_FALSE(with_line(wraps + "--fsdp_sharding_strategy SHARD_GRAD_OP").plan.reshard_after_forward);
  const ImportedPlan first = with_line(wraps + "--fsdp_reshard_after_forward false");
  EXPECT_TRUE(first.plan.reshard_after_forward);
  EXPECT_THAT(testing::text_of(first.notes), HasSubstr("version 1 passes over it"));
}

TEST(AccelerateLine, WordsThatNoReleaseHas) {
  for (const std::string option : {"--fsdp_auto_wrap_policy ZEBRA", "--fsdp_sharding_strategy ZEBRA"})
    EXPECT_THAT(testing::refusal_of(launched_by("--use_fsdp " + option), four_gpus()), HasSubstr("ZEBRA")) << option;
}

// Its plugin fills in the stage and the devices that DeepSpeed's file leaves open.
TEST(AccelerateLine, WhatAFileLeavesToAccelerate) {
  std::ofstream(testing::recipe_folder() + "/open.json")
      << R"({"bf16": {"enabled": "auto"}, "zero_optimization": {"stage": "auto", "offload_optimizer": {"device": "auto"}}})";
  const std::string trains = " run_clm.py --per_device_train_batch_size 2 --block_size 32 --bf16";
  const ImportedPlan by_trainer = testing::imported("torchrun --nproc_per_node 4" + trains + " --deepspeed open.json\n", four_gpus());
  EXPECT_EQ(by_trainer.plan.zero_stage, 2);
  EXPECT_FALSE(by_trainer.plan.offload_optimizer);
  const ImportedPlan third = with_line("--use_deepspeed --zero_stage 3 --offload_optimizer_device cpu --deepspeed_config_file open.json");
  EXPECT_EQ(third.plan.zero_stage, 3);
  EXPECT_TRUE(third.plan.offload_optimizer);
}

TEST(AccelerateLine, DegreesBesideFsdp) {
  const std::string second = "--use_fsdp --fsdp_version 2 --fsdp_auto_wrap_policy TRANSFORMER_BASED_WRAP ";
  const std::string degrees = "--parallelism_config_tp_size 2 --parallelism_config_dp_shard_size 2 ";
  const ParallelPlan cut = with_line(second + "--use_parallelism_config " + degrees).plan;
  EXPECT_EQ(cut.mesh.tensor, 2);
  EXPECT_EQ(cut.mesh.data, 2);
  EXPECT_EQ(with_line(second + "--use_parallelism_config " + degrees).unknown.size(), with_line(second).unknown.size());
  const ImportedPlan unasked = with_line(second + degrees);
  EXPECT_EQ(unasked.plan.mesh.tensor, 1);
  EXPECT_THAT(testing::text_of(unasked.unknown), HasSubstr("stands without --use_parallelism_config"));
  EXPECT_THAT(testing::text_of(with_line("--multi_gpu --use_parallelism_config " + degrees).unknown),
              HasSubstr("is refused by Accelerate"));
  EXPECT_NE(testing::refusal_of(launched_by(second + "--use_parallelism_config --parallelism_config_tp_size 2"), four_gpus()), "")
      << "a shard degree of 1 that nobody wrote";
  const std::string file =
      std::string(kByFsdp) + "parallelism_config:\n  parallelism_config_tp_size: 2\n  parallelism_config_dp_shard_size: 2\n";
  EXPECT_EQ(with_file(file, "").plan.mesh.tensor, 2);
  EXPECT_EQ(with_file(file, "--parallelism_config_tp_size 4 --parallelism_config_dp_shard_size 1").plan.mesh.tensor, 4);
  EXPECT_EQ(with_file(file, "--use_fsdp --fsdp_auto_wrap_policy TRANSFORMER_BASED_WRAP").plan.mesh.tensor, 1);
}

TEST(AccelerateLine, RanksThatShareASequenceByDeepSpeed) {
  const std::string file = std::string(kByDeepSpeed) + "parallelism_config:\n  parallelism_config_sp_size: 2\n";
  const ParallelPlan plan = with_file(file, "").plan;
  EXPECT_EQ(plan.mesh.context, 2);
  EXPECT_EQ(plan.mesh.data, 2);
  EXPECT_EQ(plan.context_algorithm, ContextAlgorithm::AllToAll);
  EXPECT_EQ(plan.zero_stage, 3);
}

TEST(AccelerateLine, OneEngineForATraining) {
  std::ofstream(testing::recipe_folder() + "/launch.yaml") << kByFsdp;
  std::ofstream(testing::recipe_folder() + "/second.json") << R"({"zero_optimization": {"stage": 2}})";
  for (const std::string engine : {"second.json", "zero2"})
    EXPECT_THAT(testing::refusal_of(launched_by("--config_file launch.yaml", " --deepspeed " + engine), four_gpus()),
                HasSubstr("a training has one of both"))
        << engine;
}

}  // namespace
}  // namespace sim
