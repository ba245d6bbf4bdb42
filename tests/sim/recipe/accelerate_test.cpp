#include <fstream>

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

RecipeContext llama_for(std::int32_t devices) {
  return {.model = testing::tiny_llama(),
          .cluster = load_cluster("h100-80gb-sxm", DeviceCount{devices}),
          .sequence = 32,
          .global_batch = 16,
          .microbatch = 2};
}

TEST(Accelerate, TheStageChoosesTheKind) {
  ParallelPlan plan = testing::gpu_plan({.data = 8});
  EXPECT_THAT(testing::main_text(kAccelerate, plan), HasSubstr("distributed_type: 'MULTI_GPU'"));
  plan.zero_stage = 2;
  EXPECT_THAT(testing::main_text(kAccelerate, plan), AllOf(HasSubstr("distributed_type: 'DEEPSPEED'"), HasSubstr("  zero_stage: 2")));
  plan.zero_stage = 3;
  EXPECT_THAT(testing::main_text(kAccelerate, plan), AllOf(HasSubstr("distributed_type: 'FSDP'"), HasSubstr("  fsdp_version: 2"),
                                                           HasSubstr("  parallelism_config_dp_shard_size: 8")));
}

TEST(Accelerate, ItsTypesHaveAnyLetters) {
  const std::string text = "distributed_type: MULTI_GPU\nnum_machines: 1\nnum_processes: 2\nmixed_precision: ";
  EXPECT_EQ(testing::imported(text + "BF16\n", llama_for(2)).plan.workload.precision.compute(), Precision::Bf16);
  EXPECT_THAT(testing::refusal_of(text + "half\n", llama_for(2)), HasSubstr("mixed_precision: is 'half'"));
}

TEST(Accelerate, EachProcessHasOneOfTheListedDevices) {
  const std::string text = "distributed_type: MULTI_GPU\nnum_machines: 1\nmixed_precision: bf16\ngpu_ids: 0,1,2\nnum_processes: ";
  EXPECT_THAT(testing::refusal_of(text + "4\n", llama_for(4)), HasSubstr("gpu_ids: lists 3 devices, and num_processes is 4"));
  EXPECT_EQ(testing::imported(text + "2\n", llama_for(2)).plan.mesh.data, 2);
}

TEST(Accelerate, WhatItsQuestionnaireWritesBecomesAPlan) {
  const ImportedPlan plan = testing::imported(
      "compute_environment: LOCAL_MACHINE\ndebug: false\ndistributed_type: FSDP\nfsdp_config:\n  fsdp_version: 2\n  "
      "fsdp_reshard_after_forward: false\n"
      "  fsdp_activation_checkpointing: true\nmixed_precision: bf16\nnum_processes: 8\nparallelism_config:\n  parallelism_config_tp_size: "
      "2\n",
      llama_for(8));
  EXPECT_EQ(plan.plan.mesh, (DeviceMesh{.data = 4, .pipeline = 1, .tensor = 2}));
  EXPECT_EQ(plan.plan.zero_stage, 3);
  EXPECT_FALSE(plan.plan.reshard_after_forward);
  EXPECT_EQ(plan.plan.recompute, Recompute::Full);
  EXPECT_THAT(plan.without_effect, ::testing::ElementsAre("debug"));
}

TEST(Accelerate, OldFsdpAndAnotherNumberOfProcesses) {
  EXPECT_FALSE(testing::imported("distributed_type: FSDP\nfsdp_config:\n  fsdp_sharding_strategy: SHARD_GRAD_OP\nmixed_precision: 'no'\n",
                                 llama_for(4))
                   .plan.reshard_after_forward);
  EXPECT_THAT(testing::refusal_of("distributed_type: FSDP\nnum_processes: 16\n", llama_for(8)),
              HasSubstr("starts 16 processes, and the cluster has 8 devices"));
  EXPECT_THAT(testing::refusal_of("distributed_type: TPU\nnum_processes: 8\n", llama_for(8)), HasSubstr("no plan is for it"));
}

// Its launcher names FULL_SHARD to FSDP 1 where the file has no strategy, whatever stands here.
TEST(Accelerate, AStrategyInPlaceOfReshard) {
  const auto read = [](const std::string& value) {
    return testing::imported(
        "distributed_type: FSDP\nnum_processes: 8\nfsdp_config:\n  fsdp_version: 1\n  fsdp_reshard_after_forward: " + value + "\n",
        llama_for(8));
  };
  EXPECT_TRUE(read("FULL_SHARD").plan.reshard_after_forward);
  EXPECT_TRUE(read("shard_grad_op").plan.reshard_after_forward);
  EXPECT_THAT(testing::text_of(read("NO_SHARD").notes), HasSubstr("version 1 passes over it"));
}

TEST(Accelerate, WithoutAKindOneProcessStarts) {
  EXPECT_THAT(testing::refusal_of("distributed_type: 'NO'\nnum_processes: 8\n", llama_for(8)), HasSubstr("starts 1 process"));
  EXPECT_EQ(testing::imported("distributed_type: 'NO'\nnum_processes: 8\n", llama_for(1)).plan.mesh.data, 1);
}

TEST(Accelerate, GradientsOfCopiesCrossInFp32) {
  const auto read = [](const std::string& kind) {
    return testing::imported("distributed_type: " + kind + "\nnum_processes: 8\nmixed_precision: bf16\n", llama_for(8));
  };
  const ParallelPlan copies = read("MULTI_GPU").plan, sharded = read("FSDP").plan;
  EXPECT_EQ(to_text(copies.workload.precision), "bf16 weights=fp32");
  EXPECT_EQ(copies.workload.precision.of(Numbers::Wire), Precision::Fp32);
  EXPECT_EQ(to_text(sharded.workload.precision), "bf16");
  EXPECT_THAT(read("MULTI_GPU").lost, ::testing::IsEmpty());
  EXPECT_THAT(testing::text_of(read("MULTI_GPU").notes), HasSubstr("cross in fp32"));
  EXPECT_EQ(testing::refused_by(kAccelerate, copies), "");
  ParallelPlan mixed = sharded;
  mixed.workload.precision = copies.workload.precision;
  EXPECT_THAT(testing::refused_by(kAccelerate, mixed), HasSubstr("weights of 16 bit"));
}

// Small parameters stay whole under stage 3, as DeepSpeed does where nobody says otherwise.
TEST(Accelerate, DeepSpeedsDefaultsAreItsOwn) {
  const std::string text = "distributed_type: DEEPSPEED\nnum_processes: 8\ndeepspeed_config:\n  zero_stage: ";
  EXPECT_EQ(testing::imported(text + "3\n", llama_for(8)).plan.persistence_threshold, 100'000);
  EXPECT_EQ(testing::imported(text + "2\n", llama_for(8)).plan.persistence_threshold, 0);
}

TEST(Accelerate, AFileOfDeepSpeedBesideItIsRead) {
  std::ofstream(testing::recipe_folder() + "/zero3.json")
      << R"({"zero_optimization": {"stage": 3}, "bf16": {"enabled": true}, "gradient_clipping": 0.5, "fp8": {"enabled": true}})";
  const ImportedPlan plan = testing::imported(
      "distributed_type: DEEPSPEED\nnum_processes: 8\ndeepspeed_config:\n  deepspeed_config_file: configs/zero3.json\n", llama_for(8));
  EXPECT_EQ(plan.plan.zero_stage, 3);
  EXPECT_EQ(to_text(plan.plan.workload.precision), "bf16");
  EXPECT_EQ(plan.plan.training.gradient_clip, 0.5);
  EXPECT_THAT(testing::text_of(plan.lost), HasSubstr("fp8.enabled"));
  EXPECT_THAT(plan.unknown, ::testing::IsEmpty());
}

TEST(Accelerate, ProductsIn8BitAreThePlans) {
  const auto precision_of = [](const std::string& more) {
    return to_text(testing::imported("distributed_type: MULTI_GPU\nnum_processes: 8\nmixed_precision: fp8\n" + more, llama_for(8))
                       .plan.workload.precision);
  };
  EXPECT_EQ(precision_of(""), "fp8:delayed");
  EXPECT_EQ(precision_of("fp8_config:\n  backend: AO\n"), "fp8:tensorwise");
}

TEST(Accelerate, RefusesWhatHasNoPlaceThere) {
  ParallelPlan plan = testing::gpu_plan({.data = 2, .pipeline = 2, .tensor = 2});
  plan.sequence_parallel = true;
  EXPECT_THAT(testing::refused_by(kAccelerate, plan),
              AllOf(HasSubstr("/mesh/pipeline"), HasSubstr("/sequence_parallel"), HasSubstr("/mesh/tensor")));
}

TEST(Accelerate, ShardsByTheNamesAndNumbersOfOldFiles) {
  const ImportedPlan read =
      testing::imported("distributed_type: FSDP\nfsdp_config:\n  sharding_strategy: 2\n  offload_params: false\nnum_processes: 4\n",
                        {.model = testing::tiny_llama(),
                         .cluster = load_cluster("h100-80gb-sxm", DeviceCount{4}),
                         .sequence = 32,
                         .global_batch = 8,
                         .microbatch = 1});
  EXPECT_EQ(read.plan.zero_stage, 3);
  EXPECT_FALSE(read.plan.reshard_after_forward);
  EXPECT_THAT(testing::text_of(read.unknown), ::testing::IsEmpty());
}

// A script that writes the file and starts the Trainer with it is the Trainer's.
TEST(Accelerate, AScriptThatWritesItsFile) {
  const ImportedPlan read = testing::imported(
      "FILE=/tmp/a_$(date +%s).yaml\ncat > $FILE <<EOF\ndistributed_type: DEEPSPEED\nnum_processes: 8\nmixed_precision: bf16\n"
      "deepspeed_config:\n  zero_stage: 2\nEOF\n"
      "accelerate launch --config_file $FILE tune.py --per_device_train_batch_size 2 --max_seq_length 32 --bf16 true\n",
      {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})});
  EXPECT_EQ(read.program, &kTrainer);
  EXPECT_EQ(read.plan.zero_stage, 2);
  EXPECT_EQ(read.plan.workload.global_batch, 16);
}

// And DeepSpeed's file, which that one names in turn.
TEST(Accelerate, AScriptThatWritesBothFiles) {
  const std::string files =
      "cat > conf/layout.json <<EOF\n{\"bf16\": {\"enabled\": true}, \"zero_optimization\": {\"stage\": 1}}\nEOF\n"
      "cat > conf/start.yaml <<EOF\ndistributed_type: DEEPSPEED\nnum_processes: 8\ndeepspeed_config:\n  deepspeed_config_file: ";
  const std::string line =
      "\nEOF\naccelerate launch --config_file conf/start.yaml tune.py --per_device_train_batch_size 2 --max_seq_length 32 --bf16 true\n";
  const RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  const ImportedPlan read = testing::imported(files + "conf/layout.json" + line, context);
  EXPECT_EQ(read.plan.zero_stage, 1);
  EXPECT_EQ(read.plan.workload.global_batch, 16);
  EXPECT_THAT(testing::refusal_of(files + "conf/absent.json" + line, context), HasSubstr("copy it there as absent.json"));
}

// Without a policy that wraps, its FSDP has one unit: the whole network.
TEST(Accelerate, FsdpThatWrapsNothingHasOneUnit) {
  const RecipeContext context{.model = testing::tiny_llama(),
                              .cluster = load_cluster("h100-80gb-sxm", DeviceCount{4}),
                              .sequence = 32,
                              .global_batch = 8,
                              .microbatch = 1};
  const std::string file = "distributed_type: FSDP\nnum_processes: 4\nmixed_precision: bf16\nfsdp_config:\n  fsdp_offload_params: false\n";
  const auto layers = static_cast<std::int32_t>(testing::tiny_llama().layers);
  EXPECT_EQ(testing::imported(file, context).plan.layers_per_unit, layers);
  EXPECT_EQ(testing::imported(file + "  fsdp_auto_wrap_policy: NO_WRAP\n", context).plan.layers_per_unit, layers);
  EXPECT_EQ(testing::imported(file + "  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n", context).plan.layers_per_unit, 1);
}

// Its launcher puts fsdp_ in front of names that lack it.
TEST(Accelerate, NamesOfFsdpWithoutTheirPrefix) {
  const RecipeContext context{.model = testing::tiny_llama(),
                              .cluster = load_cluster("h100-80gb-sxm", DeviceCount{4}),
                              .sequence = 32,
                              .global_batch = 8,
                              .microbatch = 1};
  const ImportedPlan read = testing::imported(
      "distributed_type: FSDP\nmixed_precision: bf16\nfsdp_config:\n  fsdp: full_shard\n  auto_wrap_policy: TRANSFORMER_BASED_WRAP\n  "
      "offload_params: true\n  use_orig_params: true\n",
      context);
  EXPECT_EQ(read.plan.zero_stage, 3);
  EXPECT_EQ(read.plan.layers_per_unit, 1);
  EXPECT_TRUE(read.plan.offload_parameters);
  EXPECT_TRUE(read.unknown.empty()) << testing::text_of(read.unknown);
}

TEST(Accelerate, ASectionThatNobodyAsksForIsNotRead) {
  const RecipeContext context{.model = testing::tiny_llama(),
                              .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8}),
                              .sequence = 32,
                              .global_batch = 8,
                              .microbatch = 1};
  const std::string text =
      "distributed_type: MULTI_GPU\nmixed_precision: bf16\nnum_processes: 8\nfsdp_config:\n  fsdp_sharding_strategy: HYBRID_SHARD\n";
  const ImportedPlan read = testing::imported(text, context);
  EXPECT_EQ(read.plan.zero_stage, 0);
  EXPECT_EQ(read.plan.mesh.data, 8);
  EXPECT_THAT(testing::text_of(read.unknown), ::testing::HasSubstr("fsdp_config: stands beside distributed_type MULTI_GPU"));
  const ImportedPlan bare = testing::imported("compute_environment: LOCAL_MACHINE\n" + text.substr(text.find("mixed_precision")), context);
  EXPECT_EQ(bare.plan.zero_stage, 0);
  EXPECT_THAT(testing::text_of(bare.unknown), ::testing::HasSubstr("fsdp_config: stands without a distributed_type"));
}

// DeepSpeedPlugin has stage 2 by itself.
TEST(Accelerate, DeepSpeedWithoutAStage) {
  const RecipeContext context{.model = testing::tiny_llama(),
                              .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8}),
                              .sequence = 32,
                              .global_batch = 8,
                              .microbatch = 1};
  const std::string text = "distributed_type: DEEPSPEED\nmixed_precision: bf16\nnum_processes: 8\n";
  const ImportedPlan read = testing::imported(text, context);
  EXPECT_EQ(read.plan.zero_stage, 2);
  EXPECT_THAT(testing::text_of(read.notes), ::testing::HasSubstr("Accelerate's own is taken, 2"));
  EXPECT_EQ(testing::imported(text + "deepspeed_config:\n  zero_stage: 0\n", context).plan.zero_stage, 0);
  EXPECT_EQ(testing::imported(text + "deepspeed_config:\n  zero_stage: 3\n", context).plan.zero_stage, 3);
}

}  // namespace
}  // namespace sim
