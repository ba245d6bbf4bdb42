#include "sim/recipe/environment.h"

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string lost_behind(const std::string& before, std::int32_t devices = 8) {
  const RecipeContext beside = {
      .model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{devices}), .sequence = 32};
  const std::string line = "torchrun --nproc_per_node 8 --nnodes " + std::to_string(devices / 8) +
                           " run_clm.py --per_device_train_batch_size 2 --bf16 true --output_dir out\n";
  return testing::text_of(testing::imported(before + line, beside).lost);
}

TEST(Environment, WhatSlowsTheNetworkOrTheHostIsTold) {
  EXPECT_THAT(lost_behind("export NCCL_P2P_DISABLE=1\n"), HasSubstr("NCCL_P2P_DISABLE"));
  EXPECT_THAT(lost_behind("CUDA_LAUNCH_BLOCKING=1 "), HasSubstr("the host waits"));
  EXPECT_THAT(lost_behind("env NCCL_ALGO=Ring "), HasSubstr("is Ring"));
  EXPECT_THAT(lost_behind("export NVTE_CPU_OFFLOAD_V1=1 NVTE_FWD_LAYERNORM_SM_MARGIN=16\n"), HasSubstr("NVTE_FWD_LAYERNORM_SM_MARGIN"));
  EXPECT_THAT(lost_behind("export MAX_PIXELS=4194304\n"), HasSubstr("images beside the text"));
  EXPECT_THAT(lost_behind("export ACCELERATE_USE_FSDP=true FSDP_OFFLOAD_PARAMS=true\n"), HasSubstr("FSDP_OFFLOAD_PARAMS"));
}

TEST(Environment, WhatIsAsUsualIsNot) {
  for (const std::string before :
       {"export NCCL_P2P_DISABLE=0\n", "export NCCL_DEBUG=INFO\n", "export NVTE_FLASH_ATTN=1\n", "export NCCL_SOCKET_IFNAME=eth0\n", ""})
    EXPECT_EQ(lost_behind(before), "") << before;
}

std::string unknown_behind(const std::string& before, const std::string& more = "") {
  const RecipeContext beside = {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8}), .sequence = 32};
  return testing::text_of(
      testing::imported(
          before + "torchrun --nproc_per_node 8 run_clm.py --per_device_train_batch_size 2 --bf16 true --output_dir out" + more + "\n",
          beside)
          .unknown);
}

// A variable of somebody's own, exported for code that is not seen.
TEST(Environment, AnOwnVariableThatSoundsLikeKernelsOrMemoryIsTold) {
  EXPECT_THAT(unknown_behind("export MINE_FUSED_NORM=1\n"), HasSubstr("MINE_FUSED_NORM: is 1 in the environment"));
  EXPECT_THAT(unknown_behind("export OUR_BUDGET=2.5\n"), HasSubstr("OUR_BUDGET"));
  EXPECT_THAT(unknown_behind("export MINE_FUSED_NORM=0\n"), HasSubstr("has MINE_FUSED_NORM=0"));  // of a program that has it on by itself
  EXPECT_THAT(unknown_behind("MINE_FUSED_NORM=1\n"), Not(HasSubstr("MINE_FUSED_NORM")));          // of the shell alone
  EXPECT_THAT(unknown_behind("export OFFLOAD_DIR=/data/x\n", " --cache_dir $OFFLOAD_DIR"), Not(HasSubstr("OFFLOAD_DIR")));
}

// Whatever it sounds like: one that the script has no use for was exported for whoever it starts.
TEST(Environment, AnExportedVariableThatNobodyKnowsIsTold) {
  EXPECT_THAT(unknown_behind("export KEEP_LAYERS=4 MINE_MODE=fast\n"), HasSubstr("has KEEP_LAYERS=4, MINE_MODE=fast in the environment"));
  EXPECT_THAT(unknown_behind("KEEP_LAYERS=4 "), HasSubstr("has KEEP_LAYERS=4 in the environment"));
  EXPECT_THAT(unknown_behind("export NVTE_NEWER=1\n"), HasSubstr("NVTE_NEWER=1"));                    // of a library, and on no list
  EXPECT_THAT(unknown_behind("export KEEP_LAYERS=${KEEP_LAYERS:-4}\n"), HasSubstr("KEEP_LAYERS=4"));  // no use that the script has for it
  EXPECT_THAT(unknown_behind("export KEEP=outw\n", " --run_name outward"), HasSubstr("KEEP=outw"));   // a word that stands in another
  EXPECT_THAT(unknown_behind("KEEP_LAYERS=4\n"), Not(HasSubstr("in the environment")));
  EXPECT_THAT(unknown_behind("export STEPS=9\n", " --max_steps $STEPS"), Not(HasSubstr("in the environment")));
  for (const std::string idle :
       {"WANDB_MODE=offline", "OMP_NUM_THREADS=8", "DATA_DIR=here", "MINE=/data/x", "NCCL_IB_HCA=mlx5", "NNODES=1"})
    EXPECT_THAT(unknown_behind("export " + idle + "\n"), Not(HasSubstr("in the environment"))) << idle;
}

TEST(Environment, WhatStandsBetweenNodesIsOfSeveral) {
  EXPECT_EQ(lost_behind("export NCCL_IB_DISABLE=1\n"), "");
  EXPECT_THAT(lost_behind("export NCCL_IB_DISABLE=1\n", 16), HasSubstr("sockets"));
}

TEST(Environment, ItsNames) {
  EXPECT_TRUE(counts_in_environment("ACCELERATE_USE_DEEPSPEED"));
  EXPECT_FALSE(counts_in_environment("NCCL_DEBUG"));
}

}  // namespace
}  // namespace sim
