#include "sim/recipe/nemo_hydra.h"

#include <cstdio>
#include <fstream>

#include "sim/plan/field_words.h"
#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kBegin =
    "name: some_gpt\n"
    "trainer:\n  devices: 4\n  num_nodes: 2\n  precision: bf16\n  max_steps: 10 # steps = samples -- as counted\n  gradient_clip_val: 0.5\n"
    "exp_manager:\n  exp_dir: null\n  name: gpt--{val_loss:.2f}\n"
    "model:\n  micro_batch_size: 2\n  global_batch_size: 32\n  tensor_model_parallel_size: 2\n  pipeline_model_parallel_size: 1\n"
    "  encoder_seq_length: 64\n  max_position_embeddings: ${.encoder_seq_length}\n  num_layers: 4\n  hidden_size: 64\n"
    "  ffn_hidden_size: ${multiply:4, ${.hidden_size}}\n  num_attention_heads: 4\n  kv_channels: null\n"
    "  normalization: rmsnorm\n  activation: fast-swiglu\n  bias: False\n  share_embeddings_and_output_weights: False\n"
    "  position_embedding_type: rope\n  megatron_amp_O2: True\n  hidden_dropout: 0.0\n  attention_dropout: 0.0\n"
    "  tokenizer:\n    library: megatron\n    type: GPT2BPETokenizer\n  data:\n    seq_length: ${model.encoder_seq_length}\n    data_impl: "
    "mmap\n";

ImportedPlan by_file(const std::string& text) {
  return testing::imported(text, {.model = std::nullopt, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8}), .vocabulary = 1024});
}
ImportedPlan by_nemo(const std::string& more) { return by_file(std::string(kBegin) + more); }

TEST(NemoHydra, BucketsOfItsOptimizerAreInMebibytes) {
  const auto bucket = [](const std::string& more) {
    return by_nemo("  optim:\n    name: distributed_fused_adam\n    overlap_grad_sync: true\n" + more).plan.bucket_size;
  };
  EXPECT_EQ(bucket(""), Bytes(100 << 20));
  EXPECT_EQ(bucket("    bucket_cap_mb: 400\n"), Bytes(400 << 20));
  EXPECT_EQ(bucket("    bucket_cap_mb: 400\n    grad_sync_dtype: bf16\n"), Bytes(400 << 20));
}

TEST(NemoHydra, ItsSectionsAreArgumentsOfMegatron) {
  const ImportedPlan read = by_nemo(
      "  optim:\n    name: distributed_fused_adam\n    lr: 2e-4\n    betas:\n    - 0.9\n    - 0.98\n    overlap_grad_sync: true\n"
      "    sched:\n      name: CosineAnnealing\n      warmup_steps: 5\n      min_lr: 2e-5\n"
      "  activations_checkpoint_granularity: full\n  activations_checkpoint_method: uniform\n  activations_checkpoint_num_layers: 1\n");
  EXPECT_EQ(read.program, &kMegatron);
  const ParallelPlan& plan = read.plan;
  EXPECT_EQ(plan.mesh, (DeviceMesh{.data = 4, .tensor = 2}));
  EXPECT_EQ(plan.workload.sequence, 64);
  EXPECT_EQ(plan.model.ffn, 256);
  EXPECT_EQ(plan.model.norm, Norm::RmsNorm);
  EXPECT_TRUE(plan.model.gated_mlp);
  EXPECT_FALSE(plan.model.tied_embeddings);
  EXPECT_EQ(plan.zero_stage, 1);
  EXPECT_LT(plan.bucket_size, kOneBucket);
  EXPECT_EQ(plan.recompute, Recompute::Full);
  EXPECT_EQ(plan.workload.precision.compute(), Precision::Bf16);
  EXPECT_EQ(plan.training.beta2, 0.98);
  EXPECT_EQ(plan.training.gradient_clip, 0.5);
  EXPECT_EQ(plan.training.warmup_steps, 5);
  EXPECT_THAT(read.unknown, ::testing::IsEmpty()) << testing::text_of(read.unknown);
}

TEST(NemoHydra, WithoutMastersInFp32ItIsTold) {
  std::string text = std::string(kBegin) + "  optim:\n    name: fused_adam\n";
  text.replace(text.find("_O2: True"), 9, "_O2: False");
  EXPECT_THAT(testing::text_of(by_file(text).lost), HasSubstr("beside autocast"));
}

// The first of its blocks, of which there are none.
TEST(NemoHydra, NoBlockIsRecomputedWhereNoneIsCounted) {
  EXPECT_EQ(by_nemo("  activations_checkpoint_granularity: full\n  activations_checkpoint_method: block\n"
                    "  activations_checkpoint_num_layers: 0\n")
                .plan.recompute,
            Recompute::None);
}

// The line that starts it names its file, and changes some of its values before others are filled in from them.
TEST(NemoHydra, ALineWithItsFileBesideIt) {
  const std::string line =
      "python nlp/megatron_gpt_pretraining.py --config-path=conf --config-name=mine trainer.devices=2 trainer.num_nodes=1 "
      "model.encoder_seq_length=${2:-128} ++model.hidden_size=128 model.tensor_model_parallel_size=2 2>&1 | tee log\n";
  const RecipeContext context{.model = std::nullopt, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{2}), .vocabulary = 1024};
  std::remove((testing::recipe_folder() + "/mine.yaml").c_str());
  EXPECT_THAT(testing::refusal_of(line, context), HasSubstr("copy it there as mine.yaml"));
  std::ofstream(testing::recipe_folder() + "/mine.yaml") << kBegin;
  const ParallelPlan plan = testing::imported(line, context).plan;
  EXPECT_EQ(plan.mesh, (DeviceMesh{.data = 1, .tensor = 2}));
  EXPECT_EQ(plan.workload.sequence, 128);
  EXPECT_EQ(plan.model.max_positions, 128);
  EXPECT_EQ(plan.model.ffn, 512);
}

TEST(NemoHydra, ALineOfItsLauncher) {
  const std::string line =
      "NODES=2\npython3 /opt/launcher/main.py training=gpt3/9b stages=[training] data_dir=/data/pile.v1 "
      "training.trainer.num_nodes=${NODES} "
      "training.model.tensor_model_parallel_size=4 cluster_type=bcm\n";
  const RecipeContext context{.model = std::nullopt, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8}), .vocabulary = 1024};
  std::remove((testing::recipe_folder() + "/9b.yaml").c_str());
  EXPECT_THAT(testing::refusal_of(line, context), HasSubstr("copy it there as 9b.yaml"));
  std::ofstream(testing::recipe_folder() + "/9b.yaml") << kBegin;
  const ParallelPlan plan = testing::imported(line, context).plan;
  EXPECT_EQ(plan.mesh, (DeviceMesh{.data = 2, .tensor = 4}));
  EXPECT_EQ(plan.workload.sequence, 64);
}

TEST(NemoHydra, IsKnownByItsThreeSections) {
  EXPECT_TRUE(is_of_nemo_hydra({{"trainer.devices", "1"}, {"exp_manager.name", "x"}, {"model.num_layers", "1"}}));
  EXPECT_FALSE(is_of_nemo_hydra({{"trainer.devices", "1"}, {"model.num_layers", "1"}}));
}

// Without a file of its own the example's stands under the line, and is told.
TEST(NemoHydra, ALineWithoutAFile) {
  const ImportedPlan read = testing::imported(
      "python examples/nlp/language_modeling/megatron_gpt_pretraining.py trainer.devices=8 trainer.precision=bf16 "
      "model.tensor_model_parallel_size=2 model.num_layers=4 model.global_batch_size=32\n",
      {.model = std::nullopt, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8}), .vocabulary = 1024});
  EXPECT_EQ(read.plan.mesh, (DeviceMesh{.data = 4, .tensor = 2}));
  EXPECT_EQ(read.plan.model.layers, 4);
  EXPECT_EQ(read.plan.model.hidden, 768);
  EXPECT_EQ(read.plan.microbatch_size, 4);
  EXPECT_EQ(read.plan.workload.sequence, 512);
  EXPECT_THAT(testing::text_of(read.unknown), HasSubstr("megatron_gpt_config.yaml"));
}

// Formats of 8 bit stand in its files whether products are in 8 bit or not; groups of queries need no word beside their number.
TEST(NemoHydra, FormatsThatAreNotOnAndGroups) {
  const std::string formats = "  fp8_e4m3: false\n  fp8_hybrid: true\n  fp8_params: true\n  num_query_groups: 2\n";
  const std::string optimizer = "  optim:\n    name: mcore_distributed_optim\n";
  const ImportedPlan read = by_nemo("  fp8: false\n" + formats + optimizer);
  EXPECT_FALSE(read.plan.workload.precision.scales().has_value());
  EXPECT_EQ(read.plan.model.kv_heads, 2);
  EXPECT_EQ(read.plan.zero_stage, 1);
  EXPECT_TRUE(by_nemo("  fp8: true\n" + formats + optimizer).plan.workload.precision.scales().has_value());
  EXPECT_EQ(by_nemo("  num_query_groups: null\n").plan.model.kv_heads, 4);
}

// A file for a launcher that says how many nodes there are.
TEST(NemoHydra, NodesThatTheFileLeavesOpen) {
  std::string text(kBegin);
  text.erase(text.find("  num_nodes: 2\n"), 15);
  const RecipeContext context{.model = std::nullopt, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{16}), .vocabulary = 1024};
  EXPECT_EQ(testing::imported(text, context).plan.mesh.data, 8);
  EXPECT_THAT(testing::refusal_of(std::string(kBegin), context), HasSubstr("starts 8 processes"));
}

// Its other examples have files of their own, and other networks.
TEST(NemoHydra, TheExampleOfBertAsksForItsFile) {
  const std::string line =
      "torchrun --nproc_per_node 4 megatron_bert_pretraining.py model.tensor_model_parallel_size=1 model.micro_batch_size=4\n";
  RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{4})};
  EXPECT_THAT(testing::refusal_of(line, context), ::testing::HasSubstr("megatron_bert_config.yaml"));
}

// Without Transformer Engine attention writes its scores out, unless another kernel is asked for.
TEST(NemoHydra, KernelsWithoutTransformerEngine) {
  EXPECT_EQ(by_nemo("  transformer_engine: False\n  use_flash_attention: False\n").plan.attention, AttentionWord::FusedSoftmax);
  EXPECT_EQ(by_nemo("  transformer_engine: False\n  use_flash_attention: True\n").plan.attention, AttentionWord::Flash2);
  EXPECT_EQ(by_nemo("  transformer_engine: True\n").plan.attention, by_nemo("").plan.attention);
}

TEST(NemoHydra, ALineThatSaysNothingAsksForItsFile) {
  const RecipeContext context{.model = std::nullopt, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{1}), .vocabulary = 1024};
  EXPECT_THAT(testing::refusal_of("for a in 1 2; do\n  tool --clock $a\n  python megatron_gpt_pretraining.py\ndone\n", context),
              HasSubstr("no size is"));
}

// model_config.megatron_amp_O2 is off by itself (megatron_base_model.py); a bucket is the gradients' own memory unless that is switched off.
TEST(NemoHydra, WeightsBesideAutocastAreItsDefault) {
  std::string text(kBegin);
  text.erase(text.find("  megatron_amp_O2: True\n"), std::string("  megatron_amp_O2: True\n").size());
  EXPECT_THAT(testing::text_of(by_file(text).lost), HasSubstr("beside autocast"));
  text.replace(text.find("precision: bf16"), std::string("precision: bf16").size(), "precision: 32");
  EXPECT_THAT(testing::text_of(by_file(text).lost), Not(HasSubstr("beside autocast")));
  EXPECT_THAT(testing::text_of(by_nemo("  gradient_as_bucket_view: False\n").lost), HasSubstr("beside their buckets"));
  EXPECT_THAT(testing::text_of(by_nemo("  gradient_as_bucket_view: True\n").lost), Not(HasSubstr("beside their buckets")));
}

}  // namespace
}  // namespace sim
