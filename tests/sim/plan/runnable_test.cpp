#include <gmock/gmock.h>

#include "sim/model/map_families.h"
#include "sim/plan/scaled_products.h"
#include "tests/sim/plan/broken.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

using testing::broken;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

TEST(Runnable, EveryLayoutRuns) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 2, .tensor = 2});
  plan.zero_stage = 3;
  plan.sequence_parallel = true;
  plan.recompute = Recompute::Selective;
  plan.model.attention_dropout = 0.1;
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
}

TEST(Runnable, NamesTheFieldThatTheWorkerLacks) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 1, .tensor = 2});
  plan.workload.precision = Precision::Tf32;
  plan.cluster.hardware.kind = DeviceKind::Cpu;
  EXPECT_THAT(why_not_runnable(plan), ElementsAre(Field(&Violation::where, "/workload/precision")));
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
}

TEST(Runnable, TheWorkerAttendsInItsOwnWay) {
  ParallelPlan plan = testing::tiny_plan();
  plan.attention = AttentionWord::Unfused;
  EXPECT_THAT(why_not_runnable(plan), ElementsAre(Field(&Violation::where, "/attention")));
}

TEST(Runnable, TheWorkerSendsACopyOfATokenToEachExpert) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 64};
  plan.mesh.expert = 2;
  for (const TokenDispatcher other : {TokenDispatcher::Hierarchical, TokenDispatcher::AllGather}) {
    plan.token_dispatcher = other;
    EXPECT_THAT(why_not_runnable(plan), broken("/token_dispatcher", "a copy of a token to each expert"));
  }
  plan.token_dispatcher = TokenDispatcher::AllToAll;
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
}

TEST(Runnable, WeightsComeFromTheHostOfCpus) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.zero_stage = 3;
  plan.offload_optimizer = plan.offload_parameters = true;
  plan.cluster.hardware.kind = DeviceKind::Cpu;
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  EXPECT_THAT(why_not_runnable(plan), ElementsAre(Field(&Violation::where, "/offload_parameters")));
}

TEST(Runnable, LatentAttentionTakesPlainScores) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model.attention.kind = AttentionKind::Latent;
  const std::size_t before = why_not_runnable(plan).size();
  plan.model.score_cap = 50;
  ASSERT_EQ(why_not_runnable(plan).size(), before + 1);
  plan.model.score_cap = 0;
  plan.model.sinks = true;
  EXPECT_EQ(why_not_runnable(plan).size(), before + 1);
}

TEST(Runnable, NothingLiesOnDrives) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  plan.zero_stage = 3;
  plan.offload_optimizer = true;
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
  plan.on_drive = OnDrive::Optimizer;
  EXPECT_THAT(why_not_runnable(plan), ElementsAre(Field(&Violation::where, "/on_drive")));
}

TEST(Runnable, NetworksOfMapsRunOnDataRanks) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.cluster.hardware.kind = DeviceKind::Cpu;
  plan.model = convolutional_model("resnet", {.image = 32, .widths = {64}, .depths = {2}}, 10);
  plan.workload.sequence = 1;
  plan.cut = even_cut(plan.model.layers, plan.pipeline_shape());
  for (const bool shares : {false, true}) {
    plan.sync_batch_norm = shares;
    EXPECT_THAT(why_not_runnable(plan), IsEmpty());
  }
  plan.mesh = {.pipeline = 2};
  EXPECT_THAT(why_not_runnable(plan), ElementsAre(Field(&Violation::where, "/mesh/pipeline")));
  plan.mesh = {.data = 2};
  plan.recompute = Recompute::Full;
  plan.model.convolution->squeeze = true;
  EXPECT_THAT(why_not_runnable(plan), ElementsAre(Field(&Violation::where, "/model"), Field(&Violation::where, "/recompute")));
}

// Blocks with heads of their own, values narrower than keys, and gates, which stay with the tokens of a context rank or a slice.
TEST(Runnable, BlocksMayDifferInTheirHeads) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .tensor = 2});
  plan.cluster.hardware.kind = DeviceKind::Cpu;
  const auto refused = [&](void (*change)(ParallelPlan&)) {
    ParallelPlan other = plan;
    change(other);
    std::vector<std::string> where;
    for (const Violation& one : why_not_runnable(other)) where.push_back(one.where);
    return where;
  };
  const BlockSizes sizes{plan.model.heads, plan.model.kv_heads, plan.model.head_dim, 2 * plan.model.ffn};
  plan.model.sizes.assign(static_cast<std::size_t>(plan.model.layers), sizes);
  plan.model.value_dim = 2;
  plan.model.attention_gate = plan.model.head_gate = true;
  EXPECT_THAT(refused([](ParallelPlan&) {}), IsEmpty());
  EXPECT_THAT(refused([](ParallelPlan& p) { p.mesh.context = 2; }), IsEmpty());
  EXPECT_THAT(refused([](ParallelPlan& p) { p.slices = 2; }), IsEmpty());
  EXPECT_THAT(refused([](ParallelPlan& p) { p.model.sizes.back().head_dim *= 2; }), ElementsAre("/model"));
  EXPECT_THAT(refused([](ParallelPlan& p) { p.cluster.hardware.kind = DeviceKind::Gpu; }), ElementsAre("/model"));
}

// One stage per stack: its blocks share a table of biases by distance.
TEST(Runnable, EncodersWithDecodersRunOnCpus) {
  ParallelPlan plan = testing::tiny_plan({.pipeline = 2, .tensor = 2});
  plan.cluster.hardware.kind = DeviceKind::Cpu;
  plan.model.encoder = EncoderForm{.layers = 2, .decoder_layers = 1};
  plan.model.halves = {BlockHalf::Both, BlockHalf::Both, BlockHalf::Mixer, BlockHalf::Both};
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
  const auto expect_refused = [](const ParallelPlan& refused, const char* where) {
    EXPECT_THAT(why_not_runnable(refused), ElementsAre(Field(&Violation::where, where)));
  };
  ParallelPlan other = plan;
  other.cluster.hardware.kind = DeviceKind::Gpu;
  expect_refused(other, "/model");
  other = plan;
  other.sequence_parallel = true;
  expect_refused(other, "/sequence_parallel");
  other = plan;
  plan.model.encoder->relative_buckets = 8;
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
  other = plan;
  other.zero_stage = 3;
  expect_refused(other, "/zero_stage");
  other.persistence_threshold = 8 * other.model.heads;
  EXPECT_THAT(why_not_runnable(other), IsEmpty());
  other = plan;
  other.mesh.pipeline = 4;
  other.cut = even_cut(4, other.pipeline_shape());
  expect_refused(other, "/cut");
}

TEST(Runnable, NormsWithoutWeightsRunOnCpusAndThoseBehindTheTurnBlockByBlock) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .tensor = 2});
  plan.cluster.hardware.kind = DeviceKind::Cpu;
  plan.model.norm_weight = false;
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  EXPECT_THAT(why_not_runnable(plan), ElementsAre(Field(&Violation::where, "/model")));
  plan.model.norm_weight = true;
  plan.model.qk_norm = QkNorm::Turned;
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
  plan.model.qk_norm = QkNorm::Plain;
  EXPECT_THAT(why_not_runnable(plan), ElementsAre(Field(&Violation::where, "/model")));
  for (const QkNorm norm : {QkNorm::Plain, QkNorm::Turned}) {
    ParallelPlan cut = testing::tiny_plan({.context = 2});
    cut.cluster.hardware.kind = DeviceKind::Cpu;
    cut.model.qk_norm = norm;
    EXPECT_THAT(why_not_runnable(cut), IsEmpty());
  }
}

TEST(Runnable, EveryPartHasALayer) {
  ParallelPlan plan = testing::tiny_plan({.pipeline = 3});
  plan.cut.first = {LayerIndex(0), LayerIndex(3), LayerIndex(5)};  // the last one the head alone
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
  plan.cut.first = {LayerIndex(0), LayerIndex(3), LayerIndex(3)};
  EXPECT_THAT(why_not_runnable(plan), ElementsAre(Field(&Violation::where, "/cut")));
}

TEST(Runnable, OptimizersAndPrecisionsBeyondTheWorkersAreRefused) {
  ParallelPlan plan = testing::tiny_plan();
  for (const OptimizerKind optimizer : {OptimizerKind::Lamb, OptimizerKind::Lars, OptimizerKind::RmsProp}) {
    plan.workload.optimizer = optimizer;
    EXPECT_THAT(why_not_runnable(plan), ElementsAre(Field(&Violation::where, "/workload/optimizer")));
  }
}

TEST(Runnable, ProductsInEightBitsArePerformedWhereScalesAreKnown) {
  const auto refused = [](DeviceMesh mesh, ScaleRecipe recipe) {
    ParallelPlan plan = testing::tiny_plan(mesh);
    plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(recipe, false);
    return why_not_runnable(plan);
  };
  const auto at = [](const char* where) { return ElementsAre(Field(&Violation::where, where)); };
  using enum ScaleRecipe;
  for (const ScaleRecipe recipe : {Delayed, Tensorwise, Rowwise, Mx, Blockwise})
    EXPECT_THAT(refused({.data = 2, .pipeline = 2}, recipe), IsEmpty());
  EXPECT_THAT(refused({}, Nvfp4), at("/workload/precision"));
  EXPECT_THAT(refused({.tensor = 2, .context = 2}, Delayed), IsEmpty());
  for (const ScaleRecipe recipe : {Tensorwise, Rowwise}) EXPECT_THAT(refused({.tensor = 2}, recipe), IsEmpty());
  for (const ScaleRecipe recipe : {Tensorwise, Rowwise, Mx, Blockwise}) EXPECT_THAT(refused({.context = 2}, recipe), IsEmpty());
}

TEST(Runnable, TensorRanksAgreeOnScalesOnCpus) {
  for (const ScaleRecipe recipe : {ScaleRecipe::Tensorwise, ScaleRecipe::Rowwise}) {
    ParallelPlan plan = testing::tiny_plan({.tensor = 2});
    plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(recipe, false);
    EXPECT_TRUE(agrees_on_scales(plan));
    plan.cluster.hardware.kind = DeviceKind::Gpu;
    EXPECT_FALSE(agrees_on_scales(plan));
    EXPECT_THAT(why_not_runnable(plan), ElementsAre(Field(&Violation::where, "/mesh/tensor")));
  }
}

TEST(Runnable, WhatIsNotMultipliedInEightBits) {
  ParallelPlan plan = testing::tiny_plan();
  plan.cluster.hardware.kind = DeviceKind::Cpu;
  const auto refused = [&](PrecisionPolicy policy) {
    plan.workload.precision = policy;
    return why_not_runnable(plan);
  };
  const auto wrong = ElementsAre(Field(&Violation::where, "/workload/precision"));
  EXPECT_THAT(refused(PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Tensorwise, /*gathers_scaled=*/true)), wrong);
  EXPECT_THAT(refused(PrecisionPolicy(Precision::Fp16).with(ScaleRecipe::Tensorwise, false)), wrong);
  const PrecisionPolicy delayed = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Delayed, false);
  plan.model.attention.kind = AttentionKind::Latent;
  for (const DeviceMesh mesh : {DeviceMesh{}, DeviceMesh{.context = 2}, DeviceMesh{.tensor = 2}, DeviceMesh{.tensor = 2, .context = 2}}) {
    plan.mesh = mesh;
    EXPECT_THAT(refused(delayed), IsEmpty());
    EXPECT_THAT(refused(PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Tensorwise, false)), IsEmpty());
  }
  plan.mesh = {.tensor = 2};
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  EXPECT_THAT(refused(delayed), ElementsAre(Field(&Violation::where, "/mesh/tensor"))) << "sums in front of rounding are CPU ranks'";
  std::vector<Violation> none;
  plan = testing::tiny_plan();
  plan.model.adapters = parse_adapters("rank 4 on q,v", none);
  EXPECT_THAT(refused(delayed), IsEmpty());
  plan.model.adapters = parse_adapters("rank 4 on q,v base int8", none);
  EXPECT_THAT(refused(delayed), wrong);
}

// A scale of this step is of an expert's rows of a microbatch: copies of it that have some of these agree, if they have no others.
TEST(Runnable, ExpertsAreMultipliedInEightBits) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.cluster.hardware.kind = DeviceKind::Cpu;
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 64};
  const auto refused = [&](DeviceMesh mesh, ScaleRecipe recipe) {
    plan.mesh = mesh;
    plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(recipe, false);
    return why_not_runnable(plan);
  };
  const auto at = [](const char* where) { return ElementsAre(Field(&Violation::where, where)); };
  for (const ScaleRecipe recipe : {ScaleRecipe::Delayed, ScaleRecipe::Tensorwise, ScaleRecipe::Rowwise})
    for (const DeviceMesh mesh : {DeviceMesh{.data = 2}, DeviceMesh{.data = 2, .expert = 2}, DeviceMesh{.tensor = 2}})
      EXPECT_THAT(refused(mesh, recipe), IsEmpty());
  EXPECT_THAT(refused({.data = 2, .expert = 2}, ScaleRecipe::Blockwise), IsEmpty());
  plan.sequence_parallel = true;
  EXPECT_THAT(refused({.tensor = 2, .expert = 2, .expert_tensor = 1}, ScaleRecipe::Tensorwise), IsEmpty());
  EXPECT_THAT(refused({.tensor = 2, .expert = 1, .expert_tensor = 1}, ScaleRecipe::Tensorwise), IsEmpty());
  plan.sequence_parallel = false;
  EXPECT_THAT(refused({.data = 2, .context = 2, .expert = 4}, ScaleRecipe::Tensorwise), IsEmpty());
  EXPECT_THAT(refused({.context = 2}, ScaleRecipe::Blockwise), at("/mesh/context")) << "rows of one tile come from both";
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  EXPECT_THAT(refused({.data = 2, .expert = 2}, ScaleRecipe::Delayed), IsEmpty());
  EXPECT_THAT(refused({.data = 2, .expert = 2}, ScaleRecipe::Rowwise), at("/workload/precision"));
}

TEST(Runnable, ContextRanksAgreeOnScalesOnCpus) {
  ParallelPlan plan = testing::tiny_plan({.tensor = 2, .context = 2});
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Tensorwise, false);
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
  plan.mesh.tensor = 1;
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Mx, false);
  EXPECT_THAT(why_not_runnable(plan), ElementsAre(Field(&Violation::where, "/mesh/context"))) << "a tile of 32 tokens is of several ranks";
  plan.workload.sequence = 128;
  EXPECT_THAT(why_not_runnable(plan), IsEmpty()) << "each rank has whole ones";
}

TEST(Runnable, TensorRanksMeetAtHeads) {
  ParallelPlan plan = testing::tiny_plan({.tensor = 2});
  plan.cluster.hardware.kind = DeviceKind::Cpu;
  plan.model.norm = Norm::RmsNorm;
  for (const bool shares : {false, true}) {
    plan.model.kv_heads = shares ? 1 : plan.model.heads;
    plan.model.qk_norm = shares ? QkNorm::None : QkNorm::Joint;
    EXPECT_THAT(why_not_runnable(plan), IsEmpty());
    plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Tensorwise, false);
    EXPECT_THAT(why_not_runnable(plan), IsEmpty());
    EXPECT_TRUE(agrees_on_scales(plan));
    plan.workload.precision = Precision::Bf16;
  }
}

TEST(Runnable, EndsInFullPrecisionAreOfEveryDevice) {
  ParallelPlan plan = testing::tiny_plan();
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with_full(EndUnit::Embedding).with_full(EndUnit::Head);
  for (const DeviceKind kind : {DeviceKind::Cpu, DeviceKind::Gpu}) {
    plan.cluster.hardware.kind = kind;
    EXPECT_THAT(why_not_runnable(plan), IsEmpty());
  }
}

TEST(Runnable, MomentsInFewerBitsAreOfAdamWOnCpuRanks) {
  ParallelPlan plan = testing::tiny_plan();
  const auto at = [](const char* where) { return ElementsAre(Field(&Violation::where, where)); };
  plan.cluster.hardware.kind = DeviceKind::Cpu;
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(Numbers::Moments, Precision::Bf16);
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
  plan.workload.optimizer = OptimizerKind::Sgd;
  EXPECT_THAT(why_not_runnable(plan), at("/workload/precision"));
  plan.workload.optimizer = OptimizerKind::AdamW8bit;
  EXPECT_THAT(why_not_runnable(plan), at("/workload/precision"));
  plan.workload.precision = Precision::Bf16;
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  EXPECT_THAT(why_not_runnable(plan), at("/workload/optimizer"));
  plan.workload.optimizer = OptimizerKind::AdamW;
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(Numbers::Moments, Precision::Bf16);
  EXPECT_THAT(why_not_runnable(plan), at("/workload/precision"));
}

TEST(Runnable, KernelsAreItsOwn) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.zero_stage = 1;
  plan.gradient_sync = GradientSync::AllReduce;
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
  plan.zero_stage = 2;
  EXPECT_THAT(why_not_runnable(plan), ElementsAre(Field(&Violation::where, "/gradient_sync")));
  plan.zero_stage = 1;
  plan.cuda_graphs = CudaGraphs::PerLayer;
  EXPECT_THAT(why_not_runnable(plan), ElementsAre(Field(&Violation::where, "/cuda_graphs")));
}

TEST(Runnable, AdaptersRunBesideWeightsAsTheyAreAndPackedOnes) {
  ParallelPlan plan = testing::tiny_plan();
  std::vector<Violation> wrong;
  plan.model.adapters = parse_adapters("rank 2 alpha 4 on o", wrong);
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
  for (const std::string_view runs : {"rank 2 on o base int8", "rank 2 on o base nf4 dropout 0.1"}) {
    plan.model.adapters = parse_adapters(runs, wrong);
    EXPECT_THAT(why_not_runnable(plan), IsEmpty()) << runs;
  }
  plan.model.adapters = parse_adapters("rank 2 on o base fp8", wrong);
  EXPECT_THAT(why_not_runnable(plan), ElementsAre(Field(&Violation::where, "/workload/adapters")));
}

TEST(Runnable, ATensorRankHasWholeBlocksOfPackedWeights) {
  ParallelPlan plan = testing::tiny_plan({.tensor = 2});
  std::vector<Violation> wrong;
  plan.model.hidden = 96;  // 48 columns of the projection's rows are a rank's
  plan.model.adapters = parse_adapters("rank 2 on o base nf4", wrong);
  EXPECT_THAT(why_not_runnable(plan), ElementsAre(Field(&Violation::where, "/workload/adapters")));
  plan.model.adapters = parse_adapters("rank 2 on o base int8", wrong);
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
}

TEST(Runnable, BlocksAndFeedForwardsAreRecomputed) {
  ParallelPlan plan = testing::tiny_plan();
  for (const std::string_view text : {"first 1", "every 2 but_last", "together 2", "modules mla_up_proj,mlp", "modules mlp,moe"}) {
    std::vector<Violation> wrong;
    plan.recompute_scope = parse_recompute_scope(text, wrong);
    EXPECT_THAT(why_not_runnable(plan), IsEmpty()) << text;
  }
  plan.recompute_scope.modules = plan.recompute_scope.modules | Module::LayerNorm;
  EXPECT_THAT(why_not_runnable(plan), ElementsAre(Field(&Violation::where, "/recompute_scope")));
  plan.recompute_scope = {.together = 2}, plan.mesh.tensor = 2;
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
}

TEST(Runnable, ModulesWithinSegmentsAreNotMadeAgainInSlices) {
  ParallelPlan plan = testing::tiny_plan();
  plan.recompute = Recompute::Selective;
  plan.recompute_scope.modules = Module::CoreAttention;
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
  plan.slices = 2;
  EXPECT_THAT(why_not_runnable(plan), ElementsAre(Field(&Violation::where, "/recompute_scope")));
  plan.slices = 1;
  plan.recompute_scope.modules = Module::LayerNorm;
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
}

TEST(Runnable, NumbersAreKeptApartAsTheWorkerKnows) {
  ParallelPlan plan = testing::tiny_plan();
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  const PrecisionPolicy summed = PrecisionPolicy(Precision::Bf16).with(Numbers::Gradients, Precision::Fp32);
  plan.workload.precision = summed;
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
  for (const Numbers what : {Numbers::Wire, Numbers::Masters}) {  // moments follow masters
    plan.workload.precision = summed.with(what, Precision::Bf16);
    EXPECT_THAT(why_not_runnable(plan), IsEmpty());
  }
  for (const Numbers what : {Numbers::Moments, Numbers::Activations}) {
    plan.workload.precision = summed.with(what, what == Numbers::Moments ? Precision::Bf16 : Precision::Fp32);
    EXPECT_THAT(why_not_runnable(plan), ElementsAre(Field(&Violation::where, "/workload/precision")));
  }
}

TEST(Runnable, ScaledRotaryPositionsRun) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model.rope_scaling = {.kind = RopeScalingKind::Linear, .factor = 2};
  EXPECT_THAT(violations(plan), IsEmpty());
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
}

// What no table of the worker performs is never performed as something else.
TEST(Runnable, WordsOfNetworksThatTheWorkerLacksAreEachNamed) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model.inner_norms = true;
  plan.model.normed_head = true;
  EXPECT_THAT(violations(plan), IsEmpty());
  EXPECT_THAT(why_not_runnable(plan), ElementsAre(Field(&Violation::problem, ::testing::HasSubstr("inner_norms")),
                                                  Field(&Violation::problem, ::testing::HasSubstr("normed_head"))));
}

TEST(Runnable, ScoresOfAnyKindAreMadeWhereKeysArePassedOn) {
  ParallelPlan plan = testing::tiny_plan();
  plan.cluster.hardware.kind = DeviceKind::Cpu;
  plan.mesh.context = 2;
  plan.model.window = 4;
  plan.model.sinks = true;
  plan.model.score_cap = 3;
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
  plan.model.qk_norm = QkNorm::Turned;
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
  plan.workload.samples.filling = RowFilling::Packed;
  plan.workload.samples.end_token = 0;
  EXPECT_THAT(why_not_runnable(plan), Contains(Field(&Violation::where, "/mesh/context")));
}

TEST(Runnable, ExpertsRun) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .expert = 2});
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 64};
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
}

TEST(Runnable, ExpertsRunAsTensorRanksCutThemOrWhole) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .tensor = 4, .expert = 2, .expert_tensor = 4});
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 64};
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
  plan.mesh.expert_tensor = 1;
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
  plan.mesh.expert_tensor = 2;
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
}

TEST(Runnable, BlocksThatAProgramRunsToTheirEnd) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .tensor = 2});
  plan.recompute = Recompute::Full;
  plan.cluster.software.own_memory = plan.cluster.software.repeats_blocks = true;
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
}

TEST(Runnable, LatentAttentionRuns) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model.attention.kind = AttentionKind::Latent;
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
}

TEST(Runnable, AnIndexerIsNamed) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model.attention = {.kind = AttentionKind::Latent, .indexer = {.heads = 2, .width = 16, .topk = 4}};
  EXPECT_THAT(why_not_runnable(plan), ElementsAre(Field(&Violation::problem, ::testing::HasSubstr("tokens that an indexer chooses"))));
}

TEST(Runnable, ContextRanksRun) {
  for (const ContextAlgorithm algorithm : {ContextAlgorithm::Ring, ContextAlgorithm::AllGather, ContextAlgorithm::AllToAll}) {
    ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 2, .context = 2});
    plan.context_algorithm = algorithm;
    EXPECT_THAT(why_not_runnable(plan), IsEmpty());
  }
  ParallelPlan plan = testing::tiny_plan({.context = 4, .context_inner = 2});
  plan.context_algorithm = ContextAlgorithm::Hierarchical;
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
}

TEST(Runnable, NewWeightsMayComeBesideTheNextForward) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 2});
  plan.zero_stage = 1;
  plan.overlap_weight_gather = true;
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
  plan.post_validation = PostValidation::Copies;
  EXPECT_THAT(why_not_runnable(plan), ElementsAre(Field(&Violation::where, "/post_validation")));
  plan = testing::tiny_plan({.data = 2});
  plan.partition_size = plan.credit_size = Bytes(1 << 20);
  plan.cluster.hardware.kind = DeviceKind::Cpu;
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  EXPECT_THAT(why_not_runnable(plan), ElementsAre(Field(&Violation::where, "/partition_size")));
}

}  // namespace
}  // namespace sim
