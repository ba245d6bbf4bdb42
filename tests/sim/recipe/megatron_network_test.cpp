#include "sim/recipe/megatron_network.h"

#include <algorithm>

#include "sim/recipe/network.h"
#include "sim/units/json_reader.h"
#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

ModelConfig network_of(std::map<std::string, std::string> said, std::string* wrong = nullptr) {
  Draft draft;
  draft.said = {{"num-layers", "4"}, {"hidden-size", "512"}, {"num-attention-heads", "8"}, {"seq-length", "64"}};
  for (const auto& [key, value] : said) draft.said[key] = value;
  const ModelConfig model = megatron_network(draft, {}).value_or(ModelConfig{});
  if (wrong != nullptr) *wrong = testing::text_of(draft.wrong);
  return model;
}

TEST(MegatronNetwork, ItsDefaults) {
  const ModelConfig model = network_of({});
  EXPECT_EQ(model.ffn, 2048);
  EXPECT_EQ(model.kv_heads, 8);
  EXPECT_EQ(model.head_dim, 64);
  EXPECT_TRUE(model.tied_embeddings && model.mlp_bias && model.attention_bias);
  EXPECT_EQ(model.residual_dropout, 0.1);
  EXPECT_EQ(model.max_positions, 64);
}

TEST(MegatronNetwork, WhatIsSaid) {
  const ModelConfig model = network_of({{"swiglu", "true"},
                                        {"normalization", "RMSNorm"},
                                        {"position-embedding-type", "rope"},
                                        {"hidden-dropout", "0"},
                                        {"disable-bias-linear", "true"},
                                        {"group-query-attention", "true"},
                                        {"num-query-groups", "2"}});
  EXPECT_EQ(model.ffn, 1344);  // two thirds of 2048, down to a multiple of 64
  EXPECT_EQ(model.kv_heads, 2);
  EXPECT_EQ(model.residual_dropout, 0);
  EXPECT_EQ(model.attention_dropout, 0.1);
  EXPECT_TRUE(model.gated_mlp && !model.mlp_bias && model.position == Position::Rotary);
}

// Megatron-DeepSpeed's experts stand in every second block, take one token each and drop what is too much; MindSpeed counts blocks without any.
TEST(MegatronNetwork, ExpertsInTheWordsOfOthers) {
  const ModelConfig usual = network_of({{"num-experts", "8"}, {"deepspeed", "true"}});
  EXPECT_EQ(usual.experts->topk, 1);
  EXPECT_EQ(usual.experts->first_dense_layers, 1);
  EXPECT_EQ(usual.experts->dense_layers, (std::vector<std::int64_t>{2}));
  EXPECT_EQ(usual.experts->capacity_factor, 1);
  const ModelConfig everywhere =
      network_of({{"num-experts", "8"}, {"expert-interval", "1"}, {"moe-router-topk", "2"}, {"disable-moe-token-dropping", "true"}});
  EXPECT_EQ(everywhere.experts->topk, 2);
  EXPECT_EQ(everywhere.experts->first_dense_layers, 0);
  EXPECT_TRUE(everywhere.experts->dense_layers.empty());
  EXPECT_EQ(everywhere.experts->capacity_factor, 0);
  EXPECT_EQ(network_of({{"num-experts", "8"}, {"moe-layer-freq", "1"}, {"first-k-dense-replace", "3"}}).experts->first_dense_layers, 3);
  const ModelConfig second = network_of({{"num-experts", "8"}, {"moe-layer-freq", "2"}, {"first-k-dense-replace", "1"}});
  EXPECT_EQ(second.experts->first_dense_layers, 2) << "of blocks 0 to 3 the third has experts";
  EXPECT_EQ(second.experts->dense_layers, (std::vector<std::int64_t>{3}));
}

// MindSpeed's names of what Megatron-LM has.
TEST(MegatronNetwork, DeepSeekInMindSpeedsWords) {
  const RecipeContext context{.model = {}, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  const ImportedPlan read = testing::imported(
      "pretrain_gpt.py --tensor-model-parallel-size 1 --micro-batch-size 1 --global-batch-size 8 --seq-length 4096 --num-layers 27 "
      "--hidden-size 2048 --ffn-hidden-size 10944 --num-attention-heads 16 --vocab-size 102400 --swiglu --normalization RMSNorm --bf16 "
      "--position-embedding-type rope --disable-bias-linear --untie-embeddings-and-output-weights --multi-head-latent-attention "
      "--qk-rope-head-dim 64 --qk-nope-head-dim 128 --kv-lora-rank 512 --v-head-dim 128 --num-experts 64 --moe-router-topk 6 "
      "--moe-intermediate-size 1408 --n-shared-experts 2 --first-k-dense-replace 1 --attention-dropout 0 --hidden-dropout 0 "
      "--moe-grouped-gemm --seq-aux --shape-order BNSD --routed-scaling-factor 1.0 --topk-group 1",
      context);
  const ModelConfig& model = read.plan.model;
  EXPECT_EQ(model.attention.kind, AttentionKind::Latent);
  EXPECT_EQ(model.attention.qk_rope, 64);
  EXPECT_EQ(model.attention.qk_nope, 128);
  ASSERT_TRUE(model.experts.has_value());
  EXPECT_EQ(model.experts->expert_ffn, 1408);
  EXPECT_EQ(model.experts->shared_ffn, 2816);
  EXPECT_EQ(model.experts->first_dense_layers, 1);
  EXPECT_EQ(testing::text_of(read.unknown), "");
}

// BLOOM's positions and the norm behind its embedding: no table of positions.
TEST(MegatronNetwork, AlibiIsBlooms) {
  const RecipeContext context{.model = {}, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  const ImportedPlan read = testing::imported(
      "pretrain_gpt.py --tensor-model-parallel-size 8 --micro-batch-size 1 --global-batch-size 8 --seq-length 2048 --num-layers 30 "
      "--hidden-size 4096 --num-attention-heads 32 --vocab-size 250880 --position-embedding-type alibi --embed-layernorm --fp16 "
      "--attention-dropout 0 --hidden-dropout 0",
      context);
  EXPECT_EQ(read.plan.model.model_type, "bloom");
  EXPECT_EQ(read.plan.model.position, Position::Alibi);
  EXPECT_TRUE(read.plan.model.embedding_norm);
  EXPECT_EQ(testing::text_of(read.lost), "");
}

TEST(MegatronNetwork, Experts) {
  const ModelConfig model = network_of({{"num-experts", "8"},
                                        {"moe-layer-freq", "([0]*1+[1]*3)"},
                                        {"moe-ffn-hidden-size", "128"},
                                        {"moe-shared-expert-intermediate-size", "256"},
                                        {"moe-router-pre-softmax", "true"}});
  ASSERT_TRUE(model.experts);
  EXPECT_EQ(model.experts->first_dense_layers, 1);
  EXPECT_EQ(model.experts->shared_experts, 2);
  EXPECT_FALSE(model.experts->renormalised);
  std::string wrong;
  const ModelConfig every = network_of({{"num-experts", "8"}, {"moe-layer-freq", "2"}}, &wrong);
  EXPECT_EQ(wrong, "");
  EXPECT_TRUE(every.experts->has_experts(0) && !every.experts->has_experts(1) && every.experts->has_experts(2));
  network_of({{"num-experts", "8"}, {"moe-layer-freq", "[1,1]"}}, &wrong);
  EXPECT_THAT(wrong, HasSubstr("moe-layer-freq"));
}

TEST(MegatronNetwork, Latent) {
  const ModelConfig model = network_of({{"multi-latent-attention", "true"},
                                        {"kv-lora-rank", "64"},
                                        {"qk-head-dim", "16"},
                                        {"qk-pos-emb-head-dim", "8"},
                                        {"v-head-dim", "16"}});
  EXPECT_EQ(model.attention.kind, AttentionKind::Latent);
  EXPECT_EQ(model.head_dim, 20);
  EXPECT_EQ(model.rope_scaling.kind, RopeScalingKind::None);
}

TEST(MegatronNetwork, AnIndexerIsReadAndWritten) {
  const ModelConfig read = network_of({{"multi-latent-attention", "true"},
                                       {"q-lora-rank", "64"},
                                       {"experimental-attention-variant", "dsa"},
                                       {"dsa-indexer-n-heads", "4"},
                                       {"dsa-indexer-head-dim", "32"},
                                       {"dsa-indexer-topk", "16"}});
  EXPECT_EQ(read.attention.indexer, (Indexer{4, 32, 16}));
  ParallelPlan plan = testing::gpu_plan({.data = 4});
  plan.model = load_model_config("profiles/models/deepseek-v3.2.json");
  plan.cut = even_cut(plan.model.layers, plan.pipeline_shape());
  const std::string text = testing::main_text(kMegatron, plan);
  for (const char* said : {"--experimental-attention-variant dsa", "--dsa-indexer-n-heads 64", "--dsa-indexer-head-dim 128",
                           "--dsa-indexer-topk 2048", "--dsa-indexer-use-sparse-loss"})
    EXPECT_THAT(text, HasSubstr(said));
}

// DeepSeek-V3's own numbers leave and come back; of others it is said that they do not.
TEST(MegatronNetwork, LatentTurnsByYarn) {
  ParallelPlan plan = testing::gpu_plan({.data = 4});
  plan.model = load_model_config("profiles/models/deepseek-v3.json");
  plan.cut = even_cut(plan.model.layers, plan.pipeline_shape());
  const std::string text = testing::main_text(kMegatron, plan);
  EXPECT_THAT(text,
              ::testing::AllOf(HasSubstr("--rope-type yarn"), HasSubstr("--rotary-scaling-factor 40"), HasSubstr("--mscale-all-dim 1")));
  const ModelConfig read = network_of({{"multi-latent-attention", "true"},
                                       {"kv-lora-rank", "512"},
                                       {"rope-type", "yarn"},
                                       {"rotary-scaling-factor", "40"},
                                       {"mscale-all-dim", "1.0"}});
  EXPECT_EQ(read.rope_scaling, plan.model.rope_scaling);
  plan.model.rope_scaling.beta_fast = 16;
  EXPECT_THAT(testing::text_of(make_recipe(kMegatron, plan).notes), HasSubstr("/model/rope_scaling: yarn's ramp is DeepSeek's there"));
}

// 127 positions before a query's own make a window of 128; a 0 sees all.
TEST(MegatronNetwork, WindowsSinksAndNorms) {
  const ModelConfig model = network_of({{"window-size", "127,0"},
                                        {"window-attn-skip-freq", "2"},
                                        {"softmax-type", "learnable"},
                                        {"qk-layernorm", "true"},
                                        {"rotary-percent", "0.5"},
                                        {"quick-geglu", "true"},
                                        {"activation-func-clamp-value", "7"}});
  EXPECT_EQ(model.window, 128);
  EXPECT_EQ(model.windowed, (std::vector<bool>{true, false, true, false}));
  EXPECT_EQ(model.qk_norm, QkNorm::Heads);
  EXPECT_TRUE(model.sinks && model.gated_mlp && model.gate_limit == 7 && model.rotary_share == 0.5);
  EXPECT_EQ(network_of({{"window-size", "-1,0"}}).window, 0);
  EXPECT_EQ(network_of({{"window-size", "(127, 0)"}}).window, 128);
}

TEST(MegatronNetwork, AWindowOfAWordIsNamed) {
  Draft draft;
  draft.said = {{"num-layers", "4"}, {"hidden-size", "64"}, {"num-attention-heads", "4"}, {"window-size", "ours"}};
  megatron_network(draft, {});
  EXPECT_THAT(testing::text_of(draft.unknown), HasSubstr("window-size: ours begins with no number"));
}

// Every network of a config.json leaves and comes back as it was, or is refused with what cannot be said.
TEST(MegatronNetwork, EveryFamilyComesBackOrIsRefused) {
  const Json published = load_json_file("tests/sim/model/parameters.json");
  std::vector<std::string> carried;
  for (const auto& entry : std::filesystem::directory_iterator("profiles/models")) {
    const std::string name = entry.path().stem();
    if (!published.contains(name)) continue;
    ParallelPlan plan = testing::gpu_plan({.data = 4});
    plan.model = load_model_config(entry.path());
    plan.workload.sequence = std::min<std::int64_t>(32, plan.model.max_positions);
    plan.cut = even_cut(plan.model.layers, plan.pipeline_shape());
    const std::string text = testing::main_text(kMegatron, plan);
    if (text.empty()) continue;
    carried.push_back(name);
    RecipeContext context = testing::context_of(plan);
    context.model.reset();
    ModelConfig back = testing::imported(text, context).plan.model;
    const NetworkDifferences differences = network_differences(back, plan.model);
    EXPECT_THAT(differences.structure, ::testing::IsEmpty()) << name;
    EXPECT_THAT(differences.words, ::testing::IsEmpty()) << name;
  }
  std::ranges::sort(carried);
  EXPECT_THAT(carried,
              ::testing::ElementsAre("deepseek-moe-16b", "deepseek-v2-lite", "deepseek-v3", "deepseek-v3.2", "glm-4.5-air", "glm-5",
                                     "gpt-oss-20b", "gpt2", "kimi-k2", "llama-3.1-8b", "mistral-7b", "mixtral-8x7b",
                                     "nemotron-3-nano-30b-a3b", "nemotron-h-8b", "qwen1.5-moe-a2.7b", "qwen2.5-7b", "qwen3-30b-a3b",
                                     "qwen3-8b", "qwen3-next-80b-a3b", "qwen3.5-27b", "qwen3.5-397b-a17b", "starcoder2-7b"));
}

TEST(MegatronNetwork, NamesOfMegatronDeepSpeed) {
  const ModelConfig model =
      testing::imported(
          "--micro-batch-size 1 --seq-length 32 --max-position-embeddings 32 --num-layers 4 --hidden-size 64 --ffn-hidden-size 128 "
          "--num-attention-heads 4 --num-key-value-heads 2 --normalization rmsnorm --use-rotary-position-embeddings --swiglu "
          "--disable-bias-linear --untie-embeddings-and-output-weights --bf16\n",
          {.model = std::nullopt, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8}), .vocabulary = 1024})
          .plan.model;
  EXPECT_EQ(model.kv_heads, 2);
  EXPECT_EQ(model.norm, Norm::RmsNorm);
}

// FlagScale: a gated width, rounded up to a multiple, of which it takes a share.
TEST(MegatronNetwork, NamesOfFlagScale) {
  const std::map<std::string, std::string> gated = {{"swiglu", "true"}, {"hidden-size", "4096"}, {"multiple-of", "256"}};
  EXPECT_EQ(network_of(gated).ffn, 11008);
  EXPECT_EQ(network_of(gated).norm, Norm::LayerNorm);
  std::map<std::string, std::string> wider = gated;
  wider["hidden-size"] = "8192", wider["hidden-dim-multiplier"] = "1.3", wider["multiple-of"] = "4096",
  wider["apply-layernorm-rms"] = "true";
  EXPECT_EQ(network_of(wider).ffn, 28672);
  EXPECT_EQ(network_of(wider).norm, Norm::RmsNorm);
}

// MegaBlocks: one expert for each token, with a capacity unless it is 0.
TEST(MegatronNetwork, ExpertsOfMegaBlocks) {
  const ModelConfig usual = network_of({{"num-experts", "8"}, {"moe-num-experts", "8"}});
  EXPECT_EQ(usual.experts->topk, 1);
  EXPECT_EQ(usual.experts->capacity_factor, 1);
  const ModelConfig dropless =
      network_of({{"num-experts", "8"}, {"moe-num-experts", "8"}, {"moe-top-k", "2"}, {"moe-capacity-factor", "0"}});
  EXPECT_EQ(dropless.experts->topk, 2);
  EXPECT_EQ(dropless.experts->capacity_factor, 0);
}

TEST(MegatronNetwork, OtherFlashKernelsAreTheSecondWithANote) {
  const auto read = [](const std::string& name) {
    return testing::imported(
        "--micro-batch-size 1 --seq-length 32 --global-batch-size 8 --tensor-model-parallel-size 1 --bf16 " + name + "\n",
        {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})});
  };
  EXPECT_EQ(read("--use-flash-attn-v1").plan.attention, AttentionWord::Flash2);
  EXPECT_THAT(testing::text_of(read("--use-flash-attn-v1").notes), HasSubstr("is a kernel of its own; the plan has FlashAttention 2"));
  EXPECT_EQ(testing::text_of(read("--use-flash-attn-v1").unknown), "");
  EXPECT_THAT(testing::text_of(read("--use-flash-attn").notes), ::testing::Not(HasSubstr("FlashAttention 2")));
}

// MindSpeed deals experts out over tensor ranks, too; MegaBlocks over as many data ranks as divide them.
TEST(MegatronNetwork, WhomExpertsAreDealtOutTo) {
  const RecipeContext context{.model = {}, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  const std::string network =
      "python pretrain_gpt.py --num-layers 4 --hidden-size 64 --num-attention-heads 4 --seq-length 32 --max-position-embeddings 32 "
      "--vocab-size 250 --bf16 --micro-batch-size 1 --global-batch-size 8 ";
  const DeviceMesh mesh =
      testing::imported(network +
                            "--tensor-model-parallel-size 2 --sequence-parallel --num-experts 8 --expert-model-parallel-size 4 "
                            "--moe-tp-extend-ep --moe-token-dispatcher-type alltoall\n",
                        context)
          .plan.mesh;
  EXPECT_EQ(mesh.expert, 8);
  EXPECT_EQ(mesh.expert_cut(), 1);
  const ImportedPlan blocks = testing::imported(network + "--moe-num-experts 12 --moe-expert-model-parallelism\n", context);
  EXPECT_EQ(blocks.plan.mesh.expert, 4);
  EXPECT_EQ(blocks.plan.model.experts->experts, 12);
  EXPECT_EQ(blocks.plan.token_dispatcher, TokenDispatcher::AllToAll);
  EXPECT_THAT(testing::text_of(blocks.lost), HasSubstr("cuts 12 experts over 8 data ranks; the plan over 4"));
}

// Beside the tokens of --vocab-size it has an end of documents.
TEST(MegatronNetwork, TheNullTokenizerHasOneTokenMore) {
  RecipeContext context{.model = std::nullopt, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  const std::string line =
      "torchrun pretrain_gpt.py --num-layers 2 --hidden-size 64 --num-attention-heads 4 --tensor-model-parallel-size 1 --micro-batch-size "
      "1 "
      "--seq-length 32 --max-position-embeddings 32 --bf16 --vocab-size 1024";
  EXPECT_EQ(testing::imported(line + " --tokenizer-type NullTokenizer\n", context).plan.model.vocabulary, 1025);
  EXPECT_EQ(testing::imported(line + " --tokenizer-type HuggingFaceTokenizer\n", context).plan.model.vocabulary, 1024);
}

// MindSpeed's -1, which divides every block's number.
TEST(MegatronNetwork, ExpertsInEveryBlockByMinusOne) {
  const RecipeContext context{.model = std::nullopt, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8}), .vocabulary = 1024};
  const ImportedPlan read = testing::imported(
      "torchrun pretrain_gpt.py --num-layers 4 --hidden-size 64 --num-attention-heads 4 --tensor-model-parallel-size 1 --micro-batch-size "
      "1 "
      "--seq-length 32 --max-position-embeddings 32 --bf16 --num-experts 4 --moe-layer-freq -1 --first-k-dense-replace -1\n",
      context);
  ASSERT_TRUE(read.plan.model.experts);
  EXPECT_EQ(read.plan.model.experts->first_dense_layers, 0);
  EXPECT_TRUE(read.plan.model.experts->dense_layers.empty());
}

}  // namespace
}  // namespace sim
