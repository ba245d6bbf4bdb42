#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

RecipeContext gpt_on(std::int32_t devices) {
  return {
      .model = testing::tiny_gpt2(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{devices}), .sequence = 32, .global_batch = 16};
}

TEST(DeepSpeed, SaysStageBatchAndTensor) {
  ParallelPlan plan = testing::gpu_plan({.data = 4, .pipeline = 1, .tensor = 2});
  plan.zero_stage = 2;
  plan.microbatch_size = 2;
  const std::string text = testing::main_text(kDeepSpeed, plan);
  EXPECT_THAT(text, AllOf(HasSubstr("\"stage\": 2"), HasSubstr("\"gradient_accumulation_steps\": 4"), HasSubstr("\"autotp_size\": 2"),
                          HasSubstr("\"betas\": [")));
}

TEST(DeepSpeed, AFileOfAnyonesBecomesAPlan) {
  const ImportedPlan plan = testing::imported(
      R"({"train_batch_size": "auto", "train_micro_batch_size_per_gpu": 2, "bf16": {"enabled": true}, "steps_per_print": 10,
      "zero_optimization": {"stage": 3, "stage3_max_reuse_distance": 1e9, "overlap_comm": true}})",
      gpt_on(4));
  EXPECT_EQ(plan.plan.zero_stage, 3);
  EXPECT_EQ(plan.plan.workload.global_batch, 16);
  EXPECT_EQ(plan.plan.accumulation, Accumulation::ReduceEach);
  EXPECT_EQ(plan.plan.bucket_size, Bytes(1'000'000'000));  // its default, of bf16
  EXPECT_THAT(testing::text_of(plan.notes), HasSubstr("train_batch_size: is \"auto\""));
  EXPECT_THAT(plan.without_effect, ::testing::ElementsAre("steps_per_print"));
  EXPECT_EQ(plan.plan.training.gradient_clip, 0);  // its default
}

// Without it a bucket is reduced where it fills up, and the backward waits. Its default is stage 3's alone.
TEST(DeepSpeed, OverlapOfBucketsIsAsItSays) {
  const auto overlaps = [](const std::string& zero) {
    return testing::imported(R"({"train_micro_batch_size_per_gpu": 2, "bf16": {"enabled": true}, "zero_optimization": {)" + zero + "}}",
                             gpt_on(4))
        .plan.cluster.software.overlap_reduce;
  };
  EXPECT_FALSE(overlaps(R"("stage": 2)"));
  EXPECT_TRUE(overlaps(R"("stage": 2, "overlap_comm": true)"));
  EXPECT_TRUE(overlaps(R"("stage": 3)"));
  EXPECT_FALSE(overlaps(R"("stage": 3, "overlap_comm": false)"));
  ParallelPlan plan = testing::gpu_plan({.data = 4, .pipeline = 1});
  plan.zero_stage = 3;
  plan.cluster.software = load_software("deepspeed");
  EXPECT_THAT(testing::main_text(kDeepSpeed, plan), HasSubstr("\"overlap_comm\": true"));
  plan.cluster.software.overlap_reduce = false;
  EXPECT_THAT(testing::main_text(kDeepSpeed, plan), HasSubstr("\"overlap_comm\": false"));
}

TEST(DeepSpeed, APrecisionOfTheTrainersIsToldFirst) {
  const ImportedPlan plan = testing::imported(
      R"({"train_micro_batch_size_per_gpu": 2, "bf16": {"enabled": "auto"}, "fp16": {"enabled": "auto"}, "zero_optimization": {"stage": 1}})",
      gpt_on(4));
  EXPECT_EQ(to_text(plan.plan.workload.precision), "bf16");
  EXPECT_THAT(testing::text_of(plan.unknown), HasSubstr("taken as bf16"));
  EXPECT_THAT(
      testing::refusal_of(R"({"train_micro_batch_size_per_gpu": 2, "bf16": {"enabled": true}, "fp16": {"enabled": true}})", gpt_on(4)),
      HasSubstr("enable one precision"));
  EXPECT_THAT(testing::refusal_of(R"({"train_micro_batch_size_per_gpu": -4, "zero_optimization": {"stage": 1}})", gpt_on(4)),
              HasSubstr("must be at least 1"));
}

// ZeRO++: weights are gathered in 8 bit, gradients reduced in 4, both with the neighbours of hpZ.
TEST(DeepSpeed, QuantizedWeightsAndGradients) {
  const ImportedPlan read = testing::imported(
      R"({"train_micro_batch_size_per_gpu": 2, "bf16": {"enabled": true}, "zero_optimization": {"stage": 3, "zero_hpz_partition_size": 2,
      "zero_quantized_weights": true, "zero_quantized_gradients": true}})",
      gpt_on(4));
  EXPECT_EQ(to_text(read.plan.workload.precision), "bf16 gathers=int8 wire=int4");
  EXPECT_EQ(read.plan.mesh.reshard, 2);
  EXPECT_THAT(testing::text_of(read.notes), HasSubstr("leaves vectors"));
  const std::string text = testing::main_text(kDeepSpeed, read.plan);
  EXPECT_THAT(text, AllOf(HasSubstr("\"zero_quantized_weights\": true"), HasSubstr("\"zero_quantized_gradients\": true")));
  const ImportedPlan ignored = testing::imported(
      R"({"train_micro_batch_size_per_gpu": 2, "bf16": {"enabled": true}, "zero_optimization": {"stage": 2, "zero_quantized_gradients": true}})",
      gpt_on(4));
  EXPECT_EQ(to_text(ignored.plan.workload.precision), "bf16");
  EXPECT_THAT(testing::text_of(ignored.notes), HasSubstr("is of stage 3, and this is stage 2"));
}

TEST(DeepSpeed, OldOffloadAndOtherOptimizers) {
  const ImportedPlan plan = testing::imported(
      R"({"train_micro_batch_size_per_gpu": 2, "optimizer": {"type": "OneBitAdam"}, "zero_optimization": {"stage": 2, "cpu_offload": true}})",
      gpt_on(4));
  EXPECT_TRUE(plan.plan.offload_optimizer);
  EXPECT_THAT(testing::text_of(plan.lost), HasSubstr("is OneBitAdam"));
}

TEST(DeepSpeed, MastersAndMomentsInBf16GoAndComeBack) {
  ParallelPlan plan = testing::gpu_plan({.data = 4});
  plan.workload.precision =
      PrecisionPolicy(Precision::Bf16).with(Numbers::Masters, Precision::Bf16).with(Numbers::Moments, Precision::Bf16);
  EXPECT_THAT(testing::refused_by(kDeepSpeed, plan), HasSubstr("of stages 1 to 3"));
  plan.zero_stage = 2;
  const std::string text = testing::main_text(kDeepSpeed, plan);
  EXPECT_THAT(text, AllOf(HasSubstr("\"bf16_master_weights_and_grads\": true"), HasSubstr("\"bf16_optimizer_states\": true")));
  EXPECT_EQ(testing::imported(text, testing::context_of(plan)).plan.workload.precision, plan.workload.precision);
  const ImportedPlan moments = testing::imported(
      R"({"train_micro_batch_size_per_gpu": 2, "bf16": {"enabled": true, "bf16_master_weights_and_grads": true}, "zero_optimization": {"stage": 1}})",
      gpt_on(4));
  EXPECT_EQ(to_text(moments.plan.workload.precision), "bf16 masters=bf16 moments=fp32");
  EXPECT_THAT(testing::refusal_of(
                  R"({"train_micro_batch_size_per_gpu": 2, "bf16": {"enabled": true, "bf16_master_weights_and_grads": true}})", gpt_on(4)),
              HasSubstr("is of stages 1 to 3"));
}

TEST(DeepSpeed, ContradictionsAreTold) {
  EXPECT_THAT(
      testing::refusal_of(
          R"({"train_batch_size": 16, "train_micro_batch_size_per_gpu": 3, "gradient_accumulation_steps": 2, "zero_optimization": {"stage": 5}})",
          gpt_on(4)),
      AllOf(HasSubstr("microbatch 3 x 2 accumulation steps x 4 data ranks are not the global batch of 16"),
            HasSubstr("zero_optimization.stage: is 5")));
}

TEST(DeepSpeed, TheOptimizerGoesToTheHostAndBack) {
  ParallelPlan plan = testing::gpu_plan({.data = 4});
  plan.offload_optimizer = true;
  EXPECT_THAT(testing::refused_by(kDeepSpeed, plan), HasSubstr("/offload_optimizer"));
  plan.zero_stage = 2;
  const std::string text = testing::main_text(kDeepSpeed, plan);
  EXPECT_THAT(text, HasSubstr("\"device\": \"cpu\""));
  EXPECT_TRUE(testing::imported(text, testing::context_of(plan)).plan.offload_optimizer);
  plan.offload_activations = true;
  EXPECT_THAT(testing::refused_by(kDeepSpeed, plan), HasSubstr("/offload_activations"));
}

TEST(DeepSpeed, WeightsGoToTheHostAndBack) {
  ParallelPlan plan = testing::gpu_plan({.data = 4});
  plan.zero_stage = 3;
  plan.accumulation = Accumulation::ReduceEach;
  plan.offload_optimizer = plan.offload_parameters = true;
  const std::string text = testing::main_text(kDeepSpeed, plan);
  EXPECT_THAT(text, HasSubstr("offload_param"));
  EXPECT_TRUE(testing::imported(text, testing::context_of(plan)).plan.offload_parameters);
  EXPECT_THAT(testing::refused_by(kMegatron, plan), HasSubstr("/offload_parameters"));
}

TEST(DeepSpeed, DrivesAreTheHostsAndComeBack) {
  ParallelPlan plan = testing::gpu_plan({.data = 4});
  plan.zero_stage = 3;
  plan.accumulation = Accumulation::ReduceEach;
  plan.offload_optimizer = plan.offload_parameters = true;
  for (const OnDrive what : {OnDrive::None, OnDrive::Optimizer, OnDrive::Weights, OnDrive::Both}) {
    plan.on_drive = what;
    const std::string text = testing::main_text(kDeepSpeed, plan);
    EXPECT_EQ(text.find("nvme_path") != std::string::npos, what != OnDrive::None) << text;
    EXPECT_EQ(testing::imported(text, testing::context_of(plan)).plan.on_drive, what) << text;
  }
  EXPECT_THAT(testing::refused_by(kTorchtitan, plan), HasSubstr("/on_drive"));
}

TEST(DeepSpeed, BelowStageThreeTheHostsMemoryHasWhatIsSaidToBeOnDrives) {
  const auto read = testing::imported(R"({"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": 2,
      "offload_optimizer": {"device": "nvme", "nvme_path": "/x"}}})",
                                      testing::context_of(testing::gpu_plan({.data = 4})));
  EXPECT_TRUE(read.plan.offload_optimizer);
  EXPECT_EQ(read.plan.on_drive, OnDrive::None);
  EXPECT_THAT(testing::text_of(read.notes), HasSubstr("is on drives in stage 3 alone, and this is stage 2"));
}

TEST(DeepSpeed, BuffersOfDrivesThatAreNotItsOwnAreTold) {
  const auto notes = [](const char* more) {
    ParallelPlan plan = testing::gpu_plan({.data = 4});
    return testing::text_of(testing::imported(fmt::format(R"({{"train_micro_batch_size_per_gpu": 1, "zero_optimization": {{"stage": 3,
        "offload_optimizer": {{"device": "nvme", "nvme_path": "/x"{}}}}}}})",
                                                          more),
                                              testing::context_of(plan))
                                .notes);
  };
  EXPECT_THAT(notes(R"(, "buffer_count": 4, "pipeline_read": false)"), Not(AnyOf(HasSubstr("buffer_count"), HasSubstr("pipeline_read"))));
  EXPECT_THAT(notes(R"(, "buffer_count": 8, "pipeline_read": true)"), AllOf(HasSubstr("buffer_count"), HasSubstr("pipeline_read")));
}

TEST(DeepSpeed, WeightsKeptAmongNeighboursAreItsSecondaryPartition) {
  ParallelPlan plan = testing::gpu_plan({.data = 4});
  plan.zero_stage = 3;
  plan.mesh.reshard = 2;
  plan.kept_until = KeptUntil::Step;
  const std::string text = testing::main_text(kDeepSpeed, plan);
  EXPECT_THAT(text, HasSubstr("\"zero_hpz_partition_size\": 2"));
  const ParallelPlan again = testing::imported(text, testing::context_of(plan)).plan;
  EXPECT_EQ(again.mesh.reshard, 2);
  EXPECT_EQ(again.kept_until, KeptUntil::Step) << "there it lasts until the step";
}

// 100,000 where a file is silent (deepspeed/runtime/zero/config.py), ten times the width where the Trainer fills it in.
TEST(DeepSpeed, SmallParametersStayWhole) {
  const auto threshold = [](const std::string& of_zero) {
    return testing::imported(fmt::format(R"({{"train_micro_batch_size_per_gpu": 2, "zero_optimization": {{{}}}}})", of_zero), gpt_on(4));
  };
  EXPECT_EQ(threshold(R"("stage": 3)").plan.persistence_threshold, 100'000);
  EXPECT_EQ(threshold(R"("stage": 3, "stage3_param_persistence_threshold": 0)").plan.persistence_threshold, 0);
  EXPECT_EQ(threshold(R"("stage": 3, "stage3_param_persistence_threshold": 1e4)").plan.persistence_threshold, 10'000);
  EXPECT_EQ(threshold(R"("stage": 2)").plan.persistence_threshold, 0);
  const ImportedPlan filled = threshold(R"("stage": 3, "stage3_param_persistence_threshold": "auto")");
  EXPECT_EQ(filled.plan.persistence_threshold, 10 * filled.plan.model.hidden);
  const ImportedPlan beside = threshold(R"("stage": 3, "zero_hpz_partition_size": 2)");
  EXPECT_EQ(beside.plan.persistence_threshold, 0);
  EXPECT_THAT(testing::text_of(beside.notes), HasSubstr("100000: parameters up to that stay whole there"));
  EXPECT_THAT(testing::text_of(threshold(R"("stage": 3, "stage3_model_persistence_threshold": 1e9)").lost), HasSubstr("leave it out"));
  ParallelPlan plan = testing::gpu_plan({.data = 4});
  plan.zero_stage = 3;
  plan.persistence_threshold = 5'000;
  const std::string text = testing::main_text(kDeepSpeed, plan);
  EXPECT_THAT(text, HasSubstr("\"stage3_param_persistence_threshold\": 5000"));
  EXPECT_EQ(testing::imported(text, testing::context_of(plan)).plan.persistence_threshold, 5'000);
}

// In elements of the units that are gathered ahead; a part of one counts as one.
TEST(DeepSpeed, UnitsAheadAreElements) {
  ParallelPlan plan = testing::gpu_plan({.data = 4});
  plan.zero_stage = 3;
  for (plan.prefetch = 0; plan.prefetch <= kMostPrefetched; ++plan.prefetch)
    EXPECT_EQ(testing::imported(testing::main_text(kDeepSpeed, plan), testing::context_of(plan)).plan.prefetch, plan.prefetch);
  const auto ahead = [](const std::string& elements) {
    return testing::imported(R"({"train_micro_batch_size_per_gpu": 2, "zero_optimization": {"stage": 3, "stage3_prefetch_bucket_size": )" +
                                 elements + "}}",
                             gpt_on(4))
        .plan.prefetch;
  };
  EXPECT_EQ(ahead("1"), 1);
  EXPECT_EQ(ahead("1e12"), kMostPrefetched);
}

TEST(DeepSpeed, HasNoStages) {
  ParallelPlan plan = testing::interleaved_plan({.data = 1, .pipeline = 2}, 2);
  EXPECT_THAT(testing::refused_by(kDeepSpeed, plan),
              AllOf(HasSubstr("/mesh/pipeline"), HasSubstr("interleaved"), HasSubstr("--fix pipeline=1")));
}

// 0.19.8 refuses a file with mics_shard_size (issue 8489); older releases have it.
TEST(DeepSpeed, CopiesOfShardsAreReadAndNoLongerWritten) {
  ParallelPlan plan = testing::gpu_plan({.data = 8, .pipeline = 1, .tensor = 1, .replicas = 2});
  plan.zero_stage = 3;
  EXPECT_THAT(testing::refused_by(kDeepSpeed, plan), HasSubstr("2 replicas of 4 shards"));
  EXPECT_EQ(
      testing::imported(R"({"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": 3, "mics_shard_size": 4}})", gpt_on(8))
          .plan.mesh.replicas,
      2);
}

TEST(DeepSpeed, AShareOfTheOptimizerGoesToTheHostInStageThree) {
  ParallelPlan plan = testing::gpu_plan({.data = 4});
  plan.zero_stage = 3;
  plan.offload_optimizer = true;
  plan.offload_share = 0.3;
  const std::string text = testing::main_text(kDeepSpeed, plan);
  EXPECT_THAT(text, HasSubstr("\"ratio\": 0.3"));
  EXPECT_EQ(testing::imported(text, testing::context_of(plan)).plan.offload_share, 0.3);
  plan.zero_stage = 2;
  EXPECT_THAT(testing::refused_by(kDeepSpeed, plan), HasSubstr("/offload_share"));
  const ImportedPlan ignored = testing::imported(
      R"({"train_micro_batch_size_per_gpu": 2, "zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu", "ratio": 0.3}}})",
      gpt_on(4));
  EXPECT_EQ(ignored.plan.offload_share, 1);
  EXPECT_THAT(testing::text_of(ignored.notes), HasSubstr("offload_optimizer.ratio"));
}

TEST(DeepSpeed, AStageThatIsLeftToOthersIsAsked) {
  EXPECT_THAT(testing::refusal_of(R"({"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": "auto"}})", gpt_on(4)),
              HasSubstr("zero_optimization.stage: is \"auto\", which Accelerate alone fills in"));
}

TEST(DeepSpeed, WeightsAloneOnTheHostAreNoPlan) {
  const std::string refused =
      testing::refusal_of(R"({"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": 3, "offload_param": {"device": "cpu"}}})",
                          testing::context_of(testing::gpu_plan({.data = 2})));
  EXPECT_THAT(refused, HasSubstr("offload_param: keeps weights on the host whose optimizer stays on the device"));
  EXPECT_THAT(refused, Not(HasSubstr("/offload_parameters")));
}

// Weights go to the host in stage 3 alone, whatever the file says.
TEST(DeepSpeed, WeightsBelowStageThreeStayAndAreTold) {
  const ImportedPlan read = testing::imported(
      R"({"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": 2, "offload_param": {"device": "cpu"}, "offload_optimizer": {"device": "cpu"}}})",
      {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{4}), .sequence = 32});
  EXPECT_FALSE(read.plan.offload_parameters);
  EXPECT_TRUE(read.plan.offload_optimizer);
  EXPECT_THAT(testing::text_of(read.notes), HasSubstr("weights of stage 3 alone, and this is stage 2"));
}

// They cross in the type of the products, whatever they are added up in, unless the file names another.
TEST(DeepSpeed, GradientsCrossInTheTypeThatIsNamed) {
  const auto precision = [](const std::string& more) {
    return to_text(
        testing::imported(
            R"({"train_micro_batch_size_per_gpu": 2, "bf16": {"enabled": true}, "zero_optimization": {"stage": 1})" + more + "}", gpt_on(4))
            .plan.workload.precision);
  };
  EXPECT_EQ(precision(""), "bf16");
  EXPECT_EQ(precision(R"(, "communication_data_type": "bf16")"), "bf16");
  EXPECT_EQ(precision(R"(, "communication_data_type": "fp32")"), "bf16 wire=fp32");
  EXPECT_EQ(precision(R"(, "data_types": {"grad_accum_dtype": "fp32"})"), "bf16 gradients=fp32 wire=bf16");
  EXPECT_EQ(precision(R"(, "data_types": {"grad_accum_dtype": "fp32"}, "communication_data_type": "fp32")"), "bf16 gradients=fp32");
}

// Of stages 1 and 2 alone: the third has no other way.
TEST(DeepSpeed, GradientsThatCrossWholeAreTold) {
  const auto lost_of = [](const std::string& stage) {
    return testing::text_of(
        testing::imported(R"({"train_micro_batch_size_per_gpu": 2, "bf16": {"enabled": true}, "zero_optimization": {"stage": )" + stage +
                              R"(, "reduce_scatter": false}})",
                          gpt_on(4))
            .lost);
  };
  EXPECT_THAT(lost_of("1"), HasSubstr("reduce_scatter: is false"));
  EXPECT_THAT(lost_of("2"), HasSubstr("reduce_scatter: is false"));
  EXPECT_EQ(lost_of("3"), "");
}

// engine.py: with sequence ranks communication_data_type is seq_parallel_communication_data_type, which is fp32 by itself.
TEST(DeepSpeed, GradientsBesideSequenceRanksCrossInFp32) {
  const auto precision = [](const std::string& more) {
    return to_text(
        testing::imported("{\"zero_optimization\": {\"stage\": 2}, \"bf16\": {\"enabled\": true}, \"train_micro_batch_size_per_gpu\": 1, "
                          "\"gradient_accumulation_steps\": 1, \"sequence_parallel_size\": 2" +
                              more + "}",
                          {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8}), .sequence = 32})
            .plan.workload.precision);
  };
  EXPECT_EQ(precision(""), "bf16 wire=fp32");
  EXPECT_EQ(precision(R"(, "communication_data_type": "bf16")"), "bf16 wire=fp32");
  EXPECT_EQ(precision(R"(, "seq_parallel_communication_data_type": "bf16")"), "bf16");
}

// What is gathered ahead ends where so many parameters are whole (partitioned_param_coordinator.py).
TEST(DeepSpeed, FewLiveParametersAreTold) {
  const auto lost = [](const std::string& live) {
    return testing::text_of(
        testing::imported(
            "{\"zero_optimization\": {\"stage\": 3, \"stage3_max_live_parameters\": " + live +
                "}, \"bf16\": {\"enabled\": true}, \"train_micro_batch_size_per_gpu\": 1, \"gradient_accumulation_steps\": 1}",
            {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8}), .sequence = 32})
            .lost);
  };
  EXPECT_THAT(lost("1e7"), HasSubstr("stage3_max_live_parameters"));
  EXPECT_EQ(lost("1e9"), "");
}

// timed_op() of its communication synchronizes the device behind each collective.
TEST(DeepSpeed, ALoggerOfCollectivesIsTold) {
  const auto lost = [](const std::string& logger) {
    return testing::text_of(
        testing::imported("{\"zero_optimization\": {\"stage\": 2}, \"bf16\": {\"enabled\": true}, \"train_micro_batch_size_per_gpu\": 1, "
                          "\"gradient_accumulation_steps\": 1, \"comms_logger\": " +
                              logger + "}",
                          {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8}), .sequence = 32})
            .lost);
  };
  EXPECT_THAT(lost("{\"enabled\": true, \"verbose\": true}"),
              HasSubstr("comms_logger.enabled: true: the host waits behind each collective"));
  EXPECT_EQ(lost("{\"enabled\": false}"), "");
}

TEST(DeepSpeed, TransfersOfMemoryThatIsNotPinned) {
  const auto lost = [](const std::string& host) {
    return testing::text_of(
        testing::imported(
            "{\"zero_optimization\": {\"stage\": 2, \"offload_optimizer\": " + host +
                "}, \"bf16\": {\"enabled\": true}, \"train_micro_batch_size_per_gpu\": 1, \"gradient_accumulation_steps\": 1}",
            {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8}), .sequence = 32})
            .lost);
  };
  EXPECT_THAT(lost("{\"device\": \"cpu\", \"pin_memory\": false}"), HasSubstr("memory that is not pinned"));
  EXPECT_EQ(lost("{\"device\": \"cpu\", \"pin_memory\": true}"), "");
  EXPECT_EQ(lost("{\"device\": \"none\", \"pin_memory\": false}"), "");
}

}  // namespace
}  // namespace sim
