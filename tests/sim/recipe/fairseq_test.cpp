#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

RecipeContext v100s(std::int32_t number) {
  return {.model = {}, .cluster = load_cluster("v100-32gb-sxm2", DeviceCount{number}), .vocabulary = 51200};
}

std::string command(const std::string& more) {
  return "OMP_NUM_THREADS=20 fairseq-train data-bin/wikitext --task language_modeling --tokens-per-sample 2048 --batch-size 8 "
         "--optimizer adam --adam-betas \"(0.9,0.98)\" --lr 0.0001 --lr-scheduler polynomial_decay --warmup-updates 5 "
         "--total-num-update 10 --max-update 10 --no-save --log-format json --log-interval 1 " +
         more;
}

TEST(Fairseq, ThirteenBillionOnOneDevice) {
  const ImportedPlan read = testing::imported(
      command(
          "--ddp-backend fully_sharded --fp16 --fp16-init-scale 4 --cpu-offload --checkpoint-activations --arch transformer_lm_gpt3_13"),
      v100s(1));
  EXPECT_EQ(read.program, &kFairseq);
  EXPECT_EQ(read.plan.model.layers, 40);
  EXPECT_EQ(read.plan.model.hidden, 5120);
  EXPECT_EQ(read.plan.model.max_positions, 2048);
  EXPECT_TRUE(read.plan.model.tied_embeddings);
  EXPECT_EQ(read.plan.zero_stage, 3);
  EXPECT_TRUE(read.plan.offload_parameters && read.plan.offload_optimizer);
  EXPECT_EQ(read.plan.recompute, Recompute::Full);
  EXPECT_EQ(read.plan.layers_per_unit, 1);
  EXPECT_EQ(read.plan.workload.precision.compute(), Precision::Fp16);
  EXPECT_EQ(read.plan.workload.global_batch, 8);
  EXPECT_EQ(read.plan.training.beta2, 0.98);
  EXPECT_EQ(testing::text_of(read.unknown), "");
}

TEST(Fairseq, AccumulationIsReducedEachTimeWhereWeightsAreSharded) {
  const auto plan_of = [](const std::string& backend) {
    return testing::imported(command("--fp16 --arch transformer_lm_gpt3_13 --update-freq 4 --ddp-backend " + backend), v100s(8)).plan;
  };
  EXPECT_EQ(plan_of("fully_sharded").accumulation, Accumulation::ReduceEach);
  EXPECT_EQ(plan_of("c10d").accumulation, Accumulation::ReduceLast);
  EXPECT_EQ(plan_of("c10d").workload.global_batch, 8 * 4 * 8);
}

// Its script of old, whose task is translation where none is named; it starts a process for each device that it sees.
TEST(Fairseq, ItsScriptWithoutATask) {
  const std::string line =
      "python train.py data-bin/pairs --arch transformer_wmt_en_de --share-all-embeddings --optimizer adam --lr 0.0007 --criterion "
      "label_smoothed_cross_entropy --label-smoothing 0.1 --max-tokens 3072 --update-freq 3\n";
  const ImportedPlan read = testing::imported("CUDA_VISIBLE_DEVICES=0,1,2,3 " + line, v100s(4));
  EXPECT_EQ(read.program, &kFairseq);
  EXPECT_EQ(read.plan.workload.precision.compute(), Precision::Fp32);
  EXPECT_EQ(read.plan.num_microbatches(), 3);
  EXPECT_THAT(testing::text_of(read.notes), Not(HasSubstr("starts")));
  EXPECT_THAT(testing::text_of(testing::imported("CUDA_VISIBLE_DEVICES=0 " + line, v100s(4)).notes), HasSubstr("starts 1 process"));
}

// A layer of 768 has 7 million parameters, less than the 100 million that are wrapped by themselves: the network is one unit.
TEST(Fairseq, SmallLayersAreNotWrappedAlone) {
  const std::string small = "--fp16 --ddp-backend fully_sharded --arch transformer_lm_gpt3_small ";
  EXPECT_EQ(testing::imported(command(small), v100s(8)).plan.layers_per_unit, 12);
  EXPECT_EQ(testing::imported(command(small + "--min-params-to-wrap 1000000"), v100s(8)).plan.layers_per_unit, 1);
  EXPECT_EQ(testing::imported(command(small + "--checkpoint-activations"), v100s(8)).plan.layers_per_unit, 1);
}

TEST(Fairseq, WhatItSaysOtherwiseIsTold) {
  const ImportedPlan read =
      testing::imported(command("--fp16 --arch transformer_lm_gpt --zero-sharding os --decoder-layerdrop 0.1 --new-option 3"), v100s(8));
  EXPECT_THAT(testing::text_of(read.lost),
              AllOf(HasSubstr("positions are sines"), HasSubstr("decoder-layerdrop"), HasSubstr("fp32 copies of all weights")));
  EXPECT_THAT(testing::text_of(read.unknown), HasSubstr("new-option"));
  EXPECT_THAT(testing::refusal_of(command("--arch transformer_lm_gpt3_13 --model-parallel-size 2"), v100s(8)), HasSubstr("tensor degree"));
  EXPECT_THAT(testing::refusal_of(command("--arch transformer_lm_gpt3_13 --ddp-backend horovod"), v100s(8)), HasSubstr("ddp-backend"));
  EXPECT_THAT(testing::refusal_of(command("--arch fconv_lm"), v100s(8)), HasSubstr("--model"));
}

// FairScale's OSS: whole gradients, whole tensors of states by owner, broadcasts of what was stepped.
TEST(Fairseq, StatesByOwnerGoBothWays) {
  const ParallelPlan read = testing::imported(command("--arch transformer_lm_gpt3_small --zero-sharding os"), v100s(8)).plan;
  EXPECT_EQ(read.zero_stage, 1);
  EXPECT_EQ(read.state_shards, StateShards::Tensors);
  EXPECT_EQ(read.gradient_sync, GradientSync::AllReduce);
  EXPECT_EQ(read.weight_sync, WeightSync::Broadcast);
  ParallelPlan plan = testing::gpu_plan({.data = 8});
  plan.model = testing::tiny_gpt2();
  plan.workload.precision = Precision::Fp32;
  plan.zero_stage = 1;
  EXPECT_THAT(testing::refused_by(kFairseq, plan), HasSubstr("stage 1"));
  plan.state_shards = StateShards::Tensors, plan.gradient_sync = GradientSync::AllReduce, plan.weight_sync = WeightSync::Broadcast;
  EXPECT_EQ(testing::refused_by(kFairseq, plan), "");
  plan.workload.precision = Precision::Fp16;
  EXPECT_THAT(testing::refused_by(kFairseq, plan), HasSubstr("fp32 copies of all weights"));
}

// Data may stand behind a flag, which has no value.
TEST(Fairseq, DataBehindAFlag) {
  const std::string text = "fairseq-train --fp16 data-bin/wiki --tokens-per-sample 512 --batch-size 4 --arch ";
  EXPECT_EQ(testing::imported(text + "transformer_lm_gpt3_small", v100s(8)).plan.workload.precision.compute(), Precision::Fp16);
  EXPECT_THAT(testing::refusal_of(text + "lightconv_iwslt_de_en", v100s(8)),
              AllOf(HasSubstr("is lightconv_iwslt_de_en"), HasSubstr("one stack of blocks")));
}

TEST(Fairseq, TokensOfABatchAreSamples) {
  EXPECT_EQ(
      testing::imported("fairseq-train data --arch transformer_lm_gpt3_small --tokens-per-sample 512 --max-tokens 4096 --fp16", v100s(8))
          .plan.microbatch_size,
      8);
}

TEST(Fairseq, WhatItCannotSayIsRefused) {
  ParallelPlan plan = testing::gpu_plan({.data = 2, .pipeline = 2, .tensor = 2});
  plan.model = testing::tiny_gpt2();
  plan.zero_stage = 2;
  EXPECT_THAT(testing::refused_by(kFairseq, plan),
              AllOf(HasSubstr("tensor 2: its recipe is data parallel alone"), HasSubstr("pipeline 2"), HasSubstr("stage 2")));
  plan = testing::gpu_plan({.data = 8});
  plan.model = testing::tiny_llama();
  EXPECT_THAT(testing::refused_by(kFairseq, plan), HasSubstr("GPT-2's block"));
  plan.model = testing::tiny_gpt2();
  plan.workload.precision = Precision::Fp16;
  plan.zero_stage = 3;
  EXPECT_EQ(testing::refused_by(kFairseq, plan), "");
}

// Started by its file of old, with the data behind the task.
TEST(Fairseq, ByItsOldNameWithTheDataBehindTheTask) {
  const ImportedPlan read = testing::imported(
      "python -m torch.distributed.launch --nproc_per_node=2 train.py --task language_modeling data-bin/x --arch transformer_lm "
      "--criterion cross_entropy --tokens-per-sample 32 --batch-size 4 --sample-break-mode eos --max-update 10 --decoder-learned-pos\n",
      {.model = std::nullopt, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{2}), .vocabulary = 512});
  EXPECT_EQ(read.program, &kFairseq);
  EXPECT_EQ(read.plan.workload.global_batch, 8);
  EXPECT_THAT(testing::text_of(read.lost), ::testing::Not(::testing::HasSubstr("task")));
  EXPECT_THAT(testing::text_of(read.notes), ::testing::HasSubstr("ends with a sentence"));
  EXPECT_THAT(testing::text_of(testing::imported(
                                   "fairseq-train d --task language_modeling --arch transformer_lm --criterion cross_entropy "
                                   "--tokens-per-sample 32 --batch-size 4 --sample-break-mode ours --max-update 10 --decoder-learned-pos\n",
                                   {.model = std::nullopt, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{1}), .vocabulary = 512})
                                   .unknown),
              ::testing::HasSubstr("sample-break-mode: ours is none of none"));
}

// Who starts it, or its own option, says on how many devices.
TEST(Fairseq, ProcessesAreTheDevices) {
  const std::string more =
      " data --task language_modeling --arch transformer_lm_gpt --tokens-per-sample 32 --batch-size 2 --fp16 --criterion cross_entropy "
      "--max-update 9";
  const RecipeContext context{.model = std::nullopt, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{4}), .vocabulary = 96};
  EXPECT_THAT(testing::refusal_of("python -m torch.distributed.launch --nproc_per_node 8 train.py" + more + "\n", context),
              ::testing::HasSubstr("starts 8 processes"));
  EXPECT_THAT(testing::refusal_of("fairseq-train" + more + " --distributed-world-size 2\n", context),
              ::testing::HasSubstr("starts 2 processes"));
  EXPECT_EQ(testing::imported("fairseq-train" + more + "\n", context).plan.mesh.data, 4);
}

}  // namespace
}  // namespace sim
