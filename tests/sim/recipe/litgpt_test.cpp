#include <fstream>

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

RecipeContext gpt_for(std::int32_t devices) {
  return {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{devices})};
}
constexpr const char* kTrain =
    "out_dir: out/here\ntrain:\n  save_interval: 7\n  global_batch_size: 24\n  micro_batch_size: 3\n  lr_warmup_steps: 5\n"
    "  max_tokens:\n  max_seq_length: 32\n  tie_embeddings:\n  max_norm: 0.5\n";
constexpr const char* kOptimizer =
    "optimizer:\n  class_path: torch.optim.AdamW\n  init_args:\n    lr: 0.0003\n    betas:\n      - 0.9\n      - 0.93\n";

TEST(Litgpt, APretrainingIsCutOverADevicesNode) {
  const ImportedPlan read =
      testing::imported("model_name: small\nprecision: bf16-mixed\ndevices: auto\n" + std::string(kTrain) + kOptimizer, gpt_for(4));
  EXPECT_EQ(read.program, &kLitgpt);
  const ParallelPlan& plan = read.plan;
  EXPECT_EQ(plan.mesh.data, 4);
  EXPECT_EQ(plan.zero_stage, 3);
  EXPECT_EQ(plan.num_microbatches(), 2);
  EXPECT_EQ(plan.accumulation, Accumulation::ReduceLast);
  EXPECT_EQ(plan.workload.sequence, 32);
  EXPECT_EQ(plan.recompute, Recompute::None);
  EXPECT_EQ(plan.workload.precision.of(Numbers::Weights), Precision::Fp32);
  EXPECT_EQ(plan.training.beta2, 0.93);
  EXPECT_EQ(plan.training.gradient_clip, 0.5);
  EXPECT_THAT(read.unknown, ::testing::IsEmpty()) << testing::text_of(read.unknown);
}

TEST(Litgpt, ForksHaveAShorterNameOfTheLength) {
  std::string text = "model_name: small\nprecision: bf16-mixed\ndevices: auto\n" + std::string(kTrain);
  text.replace(text.find("max_seq_length"), 14, "max_seq_len");
  const ImportedPlan read = testing::imported(text, gpt_for(4));
  EXPECT_EQ(read.plan.workload.sequence, 32);
  EXPECT_THAT(read.unknown, ::testing::IsEmpty()) << testing::text_of(read.unknown);
}

TEST(Litgpt, AFineTuningRecomputesItsBlocks) {
  const ParallelPlan plan =
      testing::imported("checkpoint_dir: some/where\nprecision: bf16-true\ndevices: 4\n" + std::string(kTrain), gpt_for(4)).plan;
  EXPECT_EQ(plan.recompute, Recompute::Full);
  EXPECT_EQ(plan.workload.precision.of(Numbers::Masters), Precision::Bf16);
  EXPECT_THAT(testing::refusal_of("checkpoint_dir: x\ndevices: 2\n" + std::string(kTrain), gpt_for(4)), HasSubstr("starts 2 processes"));
}

TEST(Litgpt, PagedMomentsAreInManagedMemory) {
  const auto with = [](const std::string& name) {
    return testing::imported(
               "checkpoint_dir: x\nprecision: bf16-true\ndevices: 4\noptimizer: bitsandbytes.optim." + name + "\n" + std::string(kTrain),
               gpt_for(4))
        .plan;
  };
  EXPECT_TRUE(with("PagedAdamW").paged_optimizer);
  EXPECT_EQ(with("PagedAdamW8bit").workload.optimizer, OptimizerKind::AdamW8bit);
  EXPECT_FALSE(with("AdamW8bit").paged_optimizer);
}

TEST(Litgpt, PairsBesideFrozenWeights) {
  const ParallelPlan plan =
      testing::imported("checkpoint_dir: x\ndevices: 1\nlora_r: 4\nlora_alpha: 8\nlora_mlp: true\nlora_value: false\nquantize: bnb.nf4\n" +
                            std::string(kTrain),
                        gpt_for(1))
          .plan;
  ASSERT_TRUE(plan.model.adapters);
  EXPECT_EQ(to_text(plan.model.adapters), "rank 4 alpha 8 on q,gate,up,down base nf4 dropout 0.05");
  EXPECT_THAT(testing::refusal_of("checkpoint_dir: x\ndevices: 1\nquantize: bnb.nf4\n" + std::string(kTrain), gpt_for(1)),
              HasSubstr("names no adapters"));
}

// Arguments of a line stand above the file that it names.
TEST(Litgpt, ALineAndItsFile) {
  std::ofstream(testing::recipe_folder() + "/run.yaml") << "precision: bf16-true\n" << kTrain;
  const ParallelPlan plan =
      testing::imported("litgpt pretrain small \\\n  --config configs/run.yaml --train.micro_batch_size 6\n", gpt_for(4)).plan;
  EXPECT_EQ(plan.microbatch_size, 6);
  EXPECT_EQ(plan.workload.global_batch, 24);
}

// All else has a default.
TEST(Litgpt, ALineWithANetworkAlone) {
  const ParallelPlan plan = testing::imported("litgpt pretrain --model_name small --train.lr_warmup_steps 7\n", gpt_for(8)).plan;
  EXPECT_EQ(plan.training.gradient_clip, 1);
  EXPECT_EQ(plan.training.minimum_learning_rate, 4e-5);
  EXPECT_EQ(plan.training.warmup_steps, 7);
  EXPECT_EQ(testing::imported("litgpt finetune_full some/where --train.max_seq_length 32\n", gpt_for(1)).plan.training.gradient_clip, 0);
  EXPECT_EQ(plan.microbatch_size, 4);
  EXPECT_EQ(plan.workload.global_batch, 512);
}

// Which program of its own, and the network, stand behind its name.
TEST(Litgpt, TheCommandNamesProgramAndNetwork) {
  RecipeContext open = gpt_for(8);
  open.model.reset();
  const ImportedPlan read = testing::imported("litgpt pretrain pythia-160m --train.max_norm 1.0\n", open);
  EXPECT_EQ(read.plan.model.layers, 12);
  EXPECT_EQ(read.plan.model.model_type, "gpt_neox");
  EXPECT_EQ(read.plan.workload.sequence, 2048);
  EXPECT_THAT(testing::text_of(read.notes), HasSubstr("the network that LitGPT has by that name"));
  open.sequence = 64;
  const ParallelPlan pairs =
      testing::imported("litgpt finetune checkpoints/meta-llama/Llama-3.2-1B --devices 8 --train.micro_batch_size 1\n", open).plan;
  EXPECT_EQ(pairs.model.hidden, 2048);
  ASSERT_TRUE(pairs.model.adapters);
  EXPECT_EQ(pairs.model.adapters->rank, 8);
  EXPECT_FALSE(
      testing::imported("litgpt finetune_full some/Llama-3.2-1B --devices 8 --train.micro_batch_size 1\n", open).plan.model.adapters);
  EXPECT_THAT(testing::refusal_of("litgpt pretrain mine --train.max_norm 1.0\n", open), HasSubstr("--model"));
  EXPECT_EQ(testing::imported("litgpt pretrain pythia-160m --train.max_norm 1.0\n", gpt_for(8)).plan.model.layers,
            testing::tiny_llama().layers);
}

TEST(Litgpt, ACommandOfAForkIsNamed) {
  RecipeContext open = gpt_for(8);
  open.model.reset();
  const ImportedPlan read = testing::imported("litgpt pretrain_twice pythia-160m --data Own --train.max_seq_length 64\n", open);
  EXPECT_THAT(testing::text_of(read.unknown), HasSubstr("litgpt pretrain_twice"));
  EXPECT_EQ(read.plan.model.layers, 12);
  EXPECT_THAT(testing::refusal_of("litgpt tune_twice checkpoints/mine --data Own --train.max_seq_length 64\n", open), HasSubstr("--model"));
}

// A network by its sizes, in the file itself.
TEST(Litgpt, ANetworkOfItsOwnSizes) {
  const std::string sizes =
      "model_name: own\nmodel_config:\n  name: own\n  block_size: 64\n  padded_vocab_size: 512\n  n_layer: 3\n  n_head: 4\n  "
      "n_query_groups: 2\n"
      "  n_embd: 64\n  intermediate_size: 96\n  rotary_percentage: 1.0\n  parallel_residual: false\n  bias: false\n  norm_class_name: "
      "RMSNorm\n";
  RecipeContext context = gpt_for(4);
  context.model.reset();
  const std::string text = sizes + "  mlp_class_name: LLaMAMLP\n" + kTrain;
  const ImportedPlan read = testing::imported(text, context);
  const ModelConfig& model = read.plan.model;
  EXPECT_EQ(model.layers, 3);
  EXPECT_EQ(model.kv_heads, 2);
  EXPECT_EQ(model.ffn, 96);
  EXPECT_EQ(model.vocabulary, 512);
  EXPECT_EQ(model.head_dim, 16);
  EXPECT_TRUE(model.gated_mlp);
  EXPECT_THAT(read.unknown, ::testing::IsEmpty()) << testing::text_of(read.unknown);
  EXPECT_THAT(testing::refusal_of(sizes + "  mlp_class_name: GemmaMLP\n" + kTrain, context), HasSubstr("--model"));
  EXPECT_THAT(testing::text_of(testing::imported(text, gpt_for(4)).lost), HasSubstr("model_config: a network of its own"));
}

// The checkpoint may stand behind the options.
TEST(Litgpt, TheCheckpointBehindTheOptions) {
  RecipeContext context = gpt_for(2);
  context.sequence = 32;
  const ImportedPlan read = testing::imported("litgpt finetune_lora --devices 2 --data ours --seed=3 checkpoints/a\n", context);
  ASSERT_TRUE(read.plan.model.adapters);
  EXPECT_EQ(read.plan.model.adapters->rank, 8);
  EXPECT_THAT(testing::text_of(read.notes), HasSubstr("checkpoints/a"));
}

}  // namespace
}  // namespace sim
