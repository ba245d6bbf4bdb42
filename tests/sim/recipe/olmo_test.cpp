#include <fstream>

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

RecipeContext gpus(std::int32_t devices) { return {.model = std::nullopt, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{devices})}; }

std::string a_run(const std::string& more) {
  return "run_name: mine\nglobal_train_batch_size: 32\ndevice_train_microbatch_size: 2\nprecision: amp_bf16\nmodel:\n  d_model: 64\n"
         "  n_heads: 4\n  n_layers: 4\n  mlp_hidden_size: 384\n  weight_tying: false\n  rope: true\n  include_bias: false\n"
         "  layer_norm_type: rms\n  max_sequence_length: 32\n  vocab_size: 500\n  embedding_size: 512\n  attention_dropout: 0.0\n"
         "  residual_dropout: 0.0\n  embedding_dropout: 0.0\noptimizer:\n  name: adamw\n  learning_rate: 0.0004\n  betas:\n  - 0.9\n  - "
         "0.91\n" +
         more;
}

TEST(Olmo, ANetworkUnderFsdp) {
  const ImportedPlan read =
      testing::imported(a_run("fsdp:\n  wrapping_strategy: by_block\n  precision: mixed\nmax_grad_norm: 0.7\n"), gpus(4));
  EXPECT_EQ(read.program, &kOlmo);
  const ParallelPlan& plan = read.plan;
  EXPECT_EQ(plan.mesh.data, 4);
  EXPECT_EQ(plan.zero_stage, 3);
  EXPECT_EQ(plan.num_microbatches(), 4);
  EXPECT_EQ(plan.accumulation, Accumulation::ReduceEach);
  EXPECT_EQ(to_text(plan.workload.precision), "bf16 gradients=fp32");
  EXPECT_EQ(plan.model.ffn, 192);  // of gate and up together
  EXPECT_EQ(plan.model.vocabulary, 512);
  EXPECT_EQ(plan.model.norm, Norm::RmsNorm);
  EXPECT_FALSE(plan.model.tied_embeddings);
  EXPECT_EQ(plan.training.beta2, 0.91);
  EXPECT_EQ(plan.layers_per_unit, 1);
  EXPECT_THAT(read.unknown, ::testing::IsEmpty()) << testing::text_of(read.unknown);
  EXPECT_THAT(read.lost, ::testing::IsEmpty()) << testing::text_of(read.lost);
}

// OLMoLlamaBlock multiplies, masks and normalises scores one after the other (olmo/model.py).
TEST(Olmo, BlocksOfLlamaWriteTheirScoresOut) {
  const auto attention = [](const std::string& block) {
    std::string run = a_run("");
    run.insert(run.find("  d_model"), "  block_type: " + block + "\n");
    return testing::imported(run, gpus(4)).plan.attention;
  };
  EXPECT_EQ(attention("llama"), AttentionWord::Unfused);
  EXPECT_EQ(attention("sequential"), AttentionWord::AsTheProgram);
}

TEST(Olmo, WhatIsNotWrappedIsOneUnit) {
  const ParallelPlan plan = testing::imported(a_run("fsdp:\n  wrapping_strategy: null\n  precision: pure\n  sharding_strategy: "
                                                    "SHARD_GRAD_OP\nactivation_checkpointing: one_in_two\n"),
                                              gpus(4))
                                .plan;
  EXPECT_EQ(plan.layers_per_unit, 4);
  EXPECT_FALSE(plan.reshard_after_forward);
  EXPECT_EQ(to_text(plan.workload.precision), "bf16");
  EXPECT_EQ(plan.recompute, Recompute::Full);
  EXPECT_EQ(plan.recompute_scope.every, 2);
}

TEST(Olmo, CopiesUnderDdp) {
  const ParallelPlan plan = testing::imported(a_run("distributed_strategy: ddp\nddp:\n  grad_sync_mode: batch\n"), gpus(4)).plan;
  EXPECT_EQ(plan.zero_stage, 0);
  EXPECT_EQ(plan.accumulation, Accumulation::ReduceLast);
  EXPECT_EQ(plan.workload.precision.of(Numbers::Weights), Precision::Fp32);
}

TEST(Olmo, ALineAndItsFile) {
  std::ofstream(testing::recipe_folder() + "/mine.yaml") << a_run("");
  const ParallelPlan plan =
      testing::imported("torchrun --nproc_per_node=4 scripts/train.py configs/mine.yaml --global_train_batch_size=64\n", gpus(4)).plan;
  EXPECT_EQ(plan.workload.global_batch, 64);
  EXPECT_EQ(plan.model.hidden, 64);
}

TEST(Olmo, WhatItCannotSayIsTold) {
  const ImportedPlan read =
      testing::imported(a_run("compile:\n  backend: inductor\nactivation_checkpointing: fine_grained\nnew_thing: 3\n"), gpus(2));
  EXPECT_THAT(testing::text_of(read.lost), AllOf(HasSubstr("compile"), HasSubstr("fine_grained")));
  EXPECT_THAT(testing::text_of(read.unknown), HasSubstr("new_thing"));
}

}  // namespace
}  // namespace sim
