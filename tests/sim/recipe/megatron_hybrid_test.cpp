#include "sim/recipe/megatron_hybrid.h"

#include "sim/recipe/megatron_network.h"
#include "sim/recipe/network.h"
#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kHead =
    "torchrun --nproc-per-node 8 pretrain_mamba.py --micro-batch-size 1 --global-batch-size 64 --seq-length 4096 --bf16 "
    "--use-distributed-optimizer --normalization RMSNorm --disable-bias-linear --untie-embeddings-and-output-weights "
    "--attention-dropout 0 --hidden-dropout 0 --group-query-attention --vocab-size 131072 --max-position-embeddings 8192 "
    "--spec megatron.core.models.mamba.mamba_layer_specs mamba_stack_spec --is-hybrid-model ";
const std::string kOfNemotronH =
    kHead +
    "--tensor-model-parallel-size 2 --hidden-size 4096 --ffn-hidden-size 21504 --num-attention-heads 32 --num-query-groups 8 "
    "--kv-channels 128 --squared-relu --position-embedding-type none --mamba-num-heads 128 ";

RecipeContext on_one_node() { return {.model = {}, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})}; }
std::vector<std::string> apart(const ModelConfig& read, const std::string& name) {
  return network_differences(read, load_model_config("profiles/models/" + name + ".json")).structure;
}
std::string letters(std::map<std::string, std::string> said) {
  Draft draft;
  draft.said = std::move(said);
  return letters_of_hybrid(draft);
}

TEST(MegatronHybrid, NemotronHOfItsPattern) {
  const ImportedPlan read = testing::imported(
      kOfNemotronH + "--num-layers 52 --hybrid-override-pattern M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-", on_one_node());
  EXPECT_THAT(read.lost, IsEmpty());
  EXPECT_THAT(read.unknown, IsEmpty());
  EXPECT_THAT(apart(read.plan.model, "nemotron-h-8b"), IsEmpty());
  EXPECT_EQ(read.plan.model.model_type, "nemotron_h");
  EXPECT_EQ(read.plan.model.linear->chunk, 128);
}

TEST(MegatronHybrid, ExpertsAmongMamba) {
  const ImportedPlan read = testing::imported(
      kHead +
          "--expert-model-parallel-size 8 --hidden-size 2688 --ffn-hidden-size 1856 --num-attention-heads 32 --num-query-groups 2 "
          "--kv-channels 128 --squared-relu --position-embedding-type none --mamba-num-heads 64 --num-experts 128 --moe-router-topk 6 "
          "--moe-ffn-hidden-size 1856 --moe-shared-expert-intermediate-size 3712 --moe-router-score-function sigmoid --moe-grouped-gemm "
          "--moe-router-topk-scaling-factor 2.5 --moe-router-enable-expert-bias --moe-token-dispatcher-type alltoall "
          "--hybrid-layer-pattern \"MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME\"",
      on_one_node());
  EXPECT_THAT(apart(read.plan.model, "nemotron-3-nano-30b-a3b"), IsEmpty());
  EXPECT_EQ(read.plan.model.layers, 52);
}

const std::string kOfQwen3Next =
    "torchrun --nproc-per-node 8 pretrain_gpt.py --micro-batch-size 1 --global-batch-size 64 --seq-length 4096 --bf16 --norm-epsilon 1e-6 "
    "--use-distributed-optimizer --normalization RMSNorm --apply-layernorm-1p --disable-bias-linear --untie-embeddings-and-output-weights "
    "--attention-dropout 0 --hidden-dropout 0 --group-query-attention --num-query-groups 2 --vocab-size 151936 --num-layers 48 "
    "--tensor-model-parallel-size 1 --hidden-size 2048 --ffn-hidden-size 5120 --num-attention-heads 16 --kv-channels 256 --swiglu "
    "--qk-layernorm --attention-output-gate --position-embedding-type rope --rotary-percent 0.25 --rotary-base 10000000 "
    "--max-position-embeddings 262144 --num-experts 512 --moe-router-topk 10 --moe-ffn-hidden-size 512 --moe-grouped-gemm "
    "--moe-shared-expert-intermediate-size 512 --moe-shared-expert-gate --moe-token-dispatcher-type alltoall --moe-aux-loss-coeff 1e-3 "
    "--experimental-attention-variant gated_delta_net --linear-num-key-heads 16 --linear-num-value-heads 32 "
    "--expert-model-parallel-size 8 ";

TEST(MegatronHybrid, GatedDeltaNetsBesideAttention) {
  const ImportedPlan read = testing::imported(kOfQwen3Next + "--linear-attention-freq 4", on_one_node());
  EXPECT_THAT(read.lost, IsEmpty());
  EXPECT_THAT(apart(read.plan.model, "qwen3-next-80b-a3b"), IsEmpty());
  EXPECT_EQ(read.plan.model.model_type, "qwen3_next");
  EXPECT_THAT(
      apart(testing::imported(kOfQwen3Next + "--linear-attention-freq '([1]*3+[0]*1)*12'", on_one_node()).plan.model, "qwen3-next-80b-a3b"),
      IsEmpty());
  EXPECT_THAT(testing::refusal_of(kOfQwen3Next, on_one_node()), HasSubstr("which blocks are gated delta nets"));
}

// As megatron-core 0.16.1 deals them out (allocate_layers).
TEST(MegatronHybrid, SharesBecomeLetters) {
  const auto of = [](const char* layers, const char* attention, const char* feed_forwards) {
    return letters({{"num-layers", layers}, {"hybrid-attention-ratio", attention}, {"hybrid-mlp-ratio", feed_forwards}});
  };
  EXPECT_EQ(of("56", "0.08", "0.5"), "M-M-M--M-M*-M-M-M-M--M*-M-M-M-M-M*--M-M-M-M-M*-M--M-M-M-");
  EXPECT_EQ(of("48", "0.5", "0.2"), "M*-*M*M*-*M*-*M*M*-*M*-**M*-*M*M*-*M*-*M*M*-*M*-");
  EXPECT_EQ(of("24", "0", "0.5"), "M-M-M-M-M-M-M-M-M-M-M-M-");
  EXPECT_EQ(of("9", "0.1", "0"), "MMMM*MMMM");
  EXPECT_EQ(of("50", "0.25", "0.25"), "MM-*MM-*MM-*MMM*-MM*-MM*-M*M-M*M-M*M-M*MM-*MM-*MM-");  // 12.5 layers: 12
  EXPECT_EQ(of("7", "0.5", "0.1"), "M**M**-");
}

TEST(MegatronHybrid, AStackAloneIsMamba) {
  EXPECT_EQ(letters({{"num-layers", "3"}, {"spec", "megatron.core.models.mamba.mamba_layer_specs mamba_stack_spec"}}), "MMM");
  EXPECT_EQ(letters({{"num-layers", "3"}, {"spec", "mine.layers get_spec"}}), "");
}

TEST(MegatronHybrid, WholeBlocksWhereEachMixerHasItsFeedForward) {
  Draft draft;
  ModelConfig model;
  model.hidden = 64;
  draft.said = {{"hybrid-override-pattern", "G-G-|*-G-"}};
  read_hybrid(letters_of_hybrid(draft), draft, model);
  EXPECT_EQ(model.layers, 4);
  EXPECT_THAT(model.halves, IsEmpty());
  EXPECT_EQ(model.linear_layers, (std::vector<bool>{true, true, false, true}));
  EXPECT_EQ(draft.blocks, (std::vector<std::int64_t>{2, 2}));
  EXPECT_THAT(draft.wrong, IsEmpty());
}

TEST(MegatronHybrid, StagesOfLettersAreTheCut) {
  const ImportedPlan read =
      testing::imported(kOfNemotronH + "--pipeline-model-parallel-size 2 --hybrid-layer-pattern 'M-M*-|M-M-M-*-'", on_one_node());
  EXPECT_EQ(read.plan.model.layers, 13);
  EXPECT_EQ(blocks_of(read.plan), (std::vector<std::int64_t>{5, 8}));
}

TEST(MegatronHybrid, WhatNoPlanKnowsIsToldAllAtOnce) {
  EXPECT_THAT(testing::refusal_of(kOfNemotronH + "--num-layers 5 --hybrid-override-pattern SDH*", on_one_node()),
              AllOf(HasSubstr("has a layer 'S'"), HasSubstr("has 4 letters, and there are 5 layers")));
  EXPECT_THAT(testing::refusal_of(kOfNemotronH + "--hybrid-override-pattern MG", on_one_node()), HasSubstr("one of them"));
  EXPECT_THAT(testing::refusal_of(kOfNemotronH + "--hybrid-override-pattern ME", on_one_node()), HasSubstr("--num-experts is missing"));
  EXPECT_THAT(testing::text_of(testing::imported(kOfNemotronH + "--hybrid-layer-pattern M-M-/*-/*-", on_one_node()).lost),
              HasSubstr("predict further tokens"));
}

// What others would take for another network, or leave out without a word.
TEST(MegatronHybrid, WhatDoesNotFitIsTold) {
  const auto refused = [](const std::string& more) { return testing::refusal_of(kOfNemotronH + more, on_one_node()); };
  EXPECT_THAT(refused("--hybrid-attention-ratio 0.5 --num-layers -8"), HasSubstr("num-layers"));
  EXPECT_THAT(refused("--hybrid-override-pattern M-M* --mamba-num-groups 7"), HasSubstr("linear attention is"));
  EXPECT_THAT(refused("--swiglu --hybrid-override-pattern M-M*"), HasSubstr("beside a gated feed-forward"));
  EXPECT_THAT(refused("--hybrid-override-pattern M-M* --experimental-attention-variant gated_delta_net --linear-attention-freq 2"),
              HasSubstr("says layers otherwise"));
  EXPECT_THAT(refused("--pipeline-model-parallel-size 2 --hybrid-layer-pattern 'M-|M*|M-'"), HasSubstr("marks 3 stages"));
  EXPECT_THAT(refused("--hybrid-override-pattern --train-iters 5"), HasSubstr("has no value"));
  RecipeContext beside = on_one_node();
  beside.model = load_model_config("profiles/models/llama-3-8b.json");
  const std::string partial = "--micro-batch-size 1 --global-batch-size 64 --seq-length 4096 --bf16 --tensor-model-parallel-size 1 ";
  EXPECT_THAT(testing::refusal_of(partial + "--hybrid-override-pattern M-M*", beside), HasSubstr("and the network beside it has"));
  EXPECT_THAT(
      testing::text_of(
          testing::imported(kOfQwen3Next.substr(0, kOfQwen3Next.find("--experimental")) + "--linear-attention-freq 4", on_one_node()).lost),
      HasSubstr("asks for; the plan has attention"));
}

ParallelPlan plan_of(const std::string& name, const DeviceMesh& mesh) {
  ParallelPlan plan = testing::gpu_plan(mesh);
  plan.model = load_model_config("profiles/models/" + name + ".json");
  return plan;
}

TEST(MegatronHybrid, LeavesAndComesBack) {
  ParallelPlan hybrid = plan_of("nemotron-h-8b", {.data = 2, .pipeline = 2, .tensor = 2});
  hybrid.cut.first = {LayerIndex(0), LayerIndex(24)};
  const std::string text = testing::main_text(kMegatron, hybrid);
  EXPECT_THAT(text, AllOf(HasSubstr("pretrain_mamba.py"), HasSubstr("mamba_layer_specs mamba_stack_spec"), HasSubstr("--squared-relu"),
                          HasSubstr("--decoder-first-pipeline-num-layers 23")));
  RecipeContext context = testing::context_of(hybrid);
  context.model.reset();
  const ImportedPlan back = testing::imported(text, context);
  EXPECT_EQ(blocks_of(back.plan), blocks_of(hybrid));
  EXPECT_THAT(apart(back.plan.model, "nemotron-h-8b"), IsEmpty());
  const ParallelPlan delta = plan_of("qwen3-next-80b-a3b", {.data = 8, .expert = 8});
  context = testing::context_of(delta);
  context.model.reset();
  const std::string of_delta = testing::main_text(kMegatron, delta);
  EXPECT_THAT(of_delta, AllOf(HasSubstr("--linear-attention-freq 4"), HasSubstr("--attention-output-gate")));
  EXPECT_THAT(apart(testing::imported(of_delta, context).plan.model, "qwen3-next-80b-a3b"), IsEmpty());
}

TEST(MegatronHybrid, ContextRanksLeaveAndComeBack) {
  const ParallelPlan plan = plan_of("nemotron-h-8b", {.data = 2, .tensor = 2, .context = 2});
  ASSERT_THAT(testing::text_of(violations(plan)), IsEmpty());
  const Recipe recipe = make_recipe(kMegatron, plan);
  EXPECT_THAT(recipe.refused, IsEmpty());
  RecipeContext context = testing::context_of(plan);
  context.model.reset();
  const ImportedPlan back = testing::imported(testing::main_text(kMegatron, plan), context);
  EXPECT_EQ(back.plan.mesh.context, 2);
  EXPECT_EQ(back.plan.mesh.tensor, 2);
  EXPECT_THAT(apart(back.plan.model, "nemotron-h-8b"), IsEmpty());
}

TEST(MegatronHybrid, WhatNoArgumentSaysIsRefused) {
  EXPECT_THAT(testing::refused_by(kMegatron, plan_of("bamba-9b", {.data = 8})), HasSubstr("linear layers are Mamba-2 by halves"));
  EXPECT_THAT(testing::refused_by(kMegatronBridge, plan_of("nemotron-h-8b", {.data = 8})), HasSubstr("another class of networks"));
  EXPECT_THAT(testing::refused_by(kMegatronBridge, plan_of("qwen3-next-80b-a3b", {.data = 8, .expert = 8})), IsEmpty());
}

TEST(MegatronHybrid, AScriptOfHybridsHasMambaAlone) {
  const std::string line =
      " --num-layers 4 --hidden-size 512 --num-attention-heads 8 --tensor-model-parallel-size 1 --micro-batch-size 1 --seq-length 32 "
      "--max-position-embeddings 32 --bf16\n";
  const RecipeContext context{.model = std::nullopt, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8}), .vocabulary = 1024};
  EXPECT_TRUE(testing::imported("torchrun pretrain_mamba.py" + line, context).plan.model.linear);
  EXPECT_FALSE(testing::imported("torchrun pretrain_gpt.py" + line, context).plan.model.linear);
}

// MindSpeed names its own layers in --spec, and Mamba's sizes otherwise.
TEST(MegatronHybrid, AScriptOfHybridsWithLayersOfItsOwn) {
  const RecipeContext context{.model = std::nullopt, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8}), .vocabulary = 1024};
  const ImportedPlan read = testing::imported(
      "torchrun pretrain_mamba.py --num-layers 4 --hidden-size 512 --num-attention-heads 8 --tensor-model-parallel-size 1 "
      "--micro-batch-size 1 --seq-length 32 --max-position-embeddings 32 --bf16 --spec ours.specs.mamba layers --mamba-d-state 64 "
      "--mamba-ngroups 4 --mamba-headdim 32 --mamba-d-conv 3 --mamba-expand 3 --mamba-chunk-size 256\n",
      context);
  ASSERT_TRUE(read.plan.model.linear);
  const LinearForm& form = *read.plan.model.linear;
  EXPECT_EQ(form.key, 64);
  EXPECT_EQ(form.groups, 4);
  EXPECT_EQ(form.value, 32);
  EXPECT_EQ(form.convolution, 3);
  EXPECT_EQ(form.heads, 48);
  EXPECT_EQ(form.chunk, 256);
  EXPECT_THAT(read.unknown, IsEmpty()) << testing::text_of(read.unknown);
}

}  // namespace
}  // namespace sim
