#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

RecipeContext plugged(std::int32_t devices, std::int64_t microbatch = 2) {
  return {.model = testing::tiny_llama(),
          .cluster = load_cluster("h100-80gb-sxm", DeviceCount{devices}),
          .sequence = 32,
          .microbatch = microbatch};
}
constexpr const char* kFile =
    "compute_environment: LOCAL_MACHINE\ndeepspeed_config: {}\ndistributed_type: MEGATRON_LM\nmain_training_function: main\n"
    "megatron_lm_config:\n  megatron_lm_gradient_clipping: 0.7\n  megatron_lm_num_micro_batches: 3\n  megatron_lm_pp_degree: 2\n"
    "  megatron_lm_recompute_activations: true\n  megatron_lm_sequence_parallelism: true\n  megatron_lm_tp_degree: 2\n"
    "  megatron_lm_use_distributed_optimizer: true\nmixed_precision: bf16\nnum_machines: 1\nnum_processes: 8\n";

TEST(AccelerateMegatron, ItsFileIsArgumentsOfMegatron) {
  const ImportedPlan read = testing::imported(kFile, plugged(8));
  EXPECT_EQ(read.program, &kMegatron);
  const ParallelPlan& plan = read.plan;
  EXPECT_EQ(plan.mesh, (DeviceMesh{.data = 2, .pipeline = 2, .tensor = 2}));
  EXPECT_EQ(plan.microbatch_size, 2);
  EXPECT_EQ(plan.workload.global_batch, 12);
  EXPECT_EQ(plan.zero_stage, 1);
  EXPECT_TRUE(plan.sequence_parallel);
  EXPECT_EQ(plan.recompute, Recompute::Selective);
  EXPECT_EQ(plan.training.gradient_clip, 0.7);
  EXPECT_EQ(plan.workload.precision.compute(), Precision::Bf16);
  EXPECT_THAT(testing::text_of(read.unknown), HasSubstr("context_parallel_size"));
  EXPECT_EQ(read.unknown.size(), 1U) << testing::text_of(read.unknown);
}

TEST(AccelerateMegatron, AnotherNumberOfProcessesAndNoMicrobatch) {
  EXPECT_THAT(testing::refusal_of(kFile, plugged(4)), HasSubstr("8 processes"));
  EXPECT_THAT(testing::refusal_of(kFile, plugged(8, 0)), HasSubstr("--microbatch"));
}

TEST(AccelerateMegatron, ItsArgumentsOnALine) {
  const ParallelPlan plan = testing::imported(
                                "accelerate launch --use_megatron_lm --num_processes 4 --mixed_precision bf16 --megatron_lm_tp_degree 2 "
                                "--megatron_lm_recompute_granularity full train.py --per_device_train_batch_size 5\n",
                                plugged(4))
                                .plan;
  EXPECT_EQ(plan.mesh, (DeviceMesh{.data = 2, .tensor = 2}));
  EXPECT_EQ(plan.microbatch_size, 5);
  EXPECT_EQ(plan.recompute, Recompute::Full);
}

}  // namespace
}  // namespace sim
