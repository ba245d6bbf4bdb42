#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/sim/plan/broken.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

using testing::broken;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Violations, NoneInASoundPlan) {
  EXPECT_THAT(violations(testing::tiny_plan()), IsEmpty());
  EXPECT_THAT(violations(testing::tiny_plan({.data = 2, .pipeline = 2, .tensor = 2})), IsEmpty());
}

TEST(Violations, DegreesMustMultiplyToTheDevices) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 1, .tensor = 1});
  plan.cluster.devices = 4;
  EXPECT_THAT(violations(plan), broken("/mesh", "= 2 ranks, but the cluster has 4 devices"));
}

TEST(Violations, AKernelOfAttentionFitsWhatItAttendsTo) {
  ParallelPlan plan = testing::tiny_plan();
  plan.attention = AttentionWord::EfficientMasked;
  EXPECT_THAT(violations(plan), broken("/attention", "test-machine is by what was measured, or by its peaks"));
  plan.cluster.hardware = load_hardware_profile("a100-80gb-sxm");
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.slices = 2;
  EXPECT_THAT(violations(plan), broken("/attention", "keys come block by block"));
  plan.attention = AttentionWord::Flash2;
  EXPECT_THAT(violations(plan), broken("/attention", "computes in 16 bit"));
  plan.workload.precision = Precision::Bf16;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with_full(BlockRanges{{1, 1}});
  EXPECT_THAT(violations(plan), broken("/attention", "computes in 16 bit"));
}

TEST(Violations, DegreesBeyondAllIntegersAreTold) {
  ParallelPlan plan = testing::tiny_plan();
  plan.mesh = {.data = 1'000'000, .pipeline = 1'000'000, .tensor = 1'000'000, .replicas = 1, .context = 1'000'000};
  EXPECT_THAT(violations(plan), broken("/mesh", "= 999999999999999983222784 ranks"));
}

TEST(Violations, HeadsMustDivideByTensorDegree) {
  EXPECT_THAT(violations(testing::tiny_plan({.data = 1, .pipeline = 1, .tensor = 3})),
              broken("/mesh/tensor", "4 attention heads are not divisible by tensor degree 3"));
}

TEST(Violations, ExchangesGoAlongProductsOfASharedSequence) {
  ParallelPlan plan = testing::tiny_plan({.tensor = 2});
  plan.tensor_overlap = TensorOverlap::AlongProducts;
  EXPECT_THAT(violations(plan), broken("/tensor_overlap", "a sequence that tensor ranks share"));
  plan.sequence_parallel = true;
  EXPECT_THAT(violations(plan), IsEmpty());
}

TEST(Violations, ExchangesBesideGradientsOfWeightsAreOfTensorRanks) {
  ParallelPlan plan = testing::tiny_plan({.pipeline = 2, .tensor = 2});
  plan.tensor_overlap = TensorOverlap::BesideWeights;
  EXPECT_THAT(violations(plan), IsEmpty());
  EXPECT_TRUE(plan.exchanges_beside_weights());
  EXPECT_THAT(why_not_runnable(plan), broken("/tensor_overlap", "exchange at once"));
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
  plan.schedule = "zb-1p";
  EXPECT_THAT(violations(plan), broken("/tensor_overlap", "puts gradients of weights off"));
  EXPECT_FALSE(plan.exchanges_beside_weights());
  plan = testing::tiny_plan();
  plan.tensor_overlap = TensorOverlap::BesideWeights;
  EXPECT_THAT(violations(plan), broken("/tensor_overlap", "between tensor ranks"));
}

TEST(Violations, AllAreReportedAtOnce) {
  ParallelPlan plan = testing::tiny_plan({.data = 3, .pipeline = 1, .tensor = 3});
  plan.zero_stage = 7;
  EXPECT_THAT(violations(plan), SizeIs(::testing::Ge(4u)));  // batch, heads, kv heads, ffn, vocabulary, stage
}

TEST(Violations, SlicesNeedAttentionThatLooksBackAndAPlaceToWait) {
  ParallelPlan plan = testing::tiny_plan({.pipeline = 2});
  plan.slices = 4;
  EXPECT_THAT(violations(plan), IsEmpty());
  const auto with = [&](auto change) {
    ParallelPlan changed = plan;
    change(changed);
    return violations(changed);
  };
  EXPECT_THAT(with([](ParallelPlan& p) { p.slices = 5; }), broken("/slices", "sequence 32 is not divisible into 5 slices"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.slices = 0; }), broken("/slices", "at least 1, not 0"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.model.bidirectional = true; }), broken("/slices", "looks ahead"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.model.window = 8; }), broken("/slices", "within a window"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.model.attention_dropout = 0.1; }), broken("/slices", "attention dropout"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.model.mtp_layers = 1; }), broken("/slices", "further tokens"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.accumulation = Accumulation::ReduceEach; }), broken("/slices", "gradients are reduced"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.recompute = Recompute::Full; }), broken("/slices", "whole blocks are recomputed"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.schedule = "zb-1p"; }), broken("/schedule", "passes whole samples, not 4 slices"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.take_order(ParallelPlan(p).order_table()); }), broken("/slices", "CSV of an order"));
  ParallelPlan context = testing::tiny_plan({.pipeline = 2, .context = 2});
  context.slices = 2;
  EXPECT_THAT(violations(context), broken("/slices", "2 context ranks share a sample"));
  ParallelPlan sequence = testing::tiny_plan({.pipeline = 2, .tensor = 4});
  sequence.sequence_parallel = true;
  sequence.slices = 16;
  EXPECT_THAT(violations(sequence), broken("/slices", "2 tokens of a slice are not divisible by tensor degree 4"));
}

TEST(Violations, SlicesOnOneStageAreNoted) {
  ParallelPlan plan = testing::tiny_plan();
  EXPECT_THAT(notes(plan), IsEmpty());
  plan.slices = 2;
  EXPECT_THAT(violations(plan), IsEmpty());
  EXPECT_THAT(notes(plan), broken("/slices", "there is one stage"));
}

TEST(Violations, ReplicasCutTheDataRanks) {
  ParallelPlan plan = testing::tiny_plan({.data = 4, .pipeline = 1, .tensor = 1, .replicas = 2});
  EXPECT_THAT(violations(plan), IsEmpty());
  for (const std::int32_t replicas : {0, 3, 4}) {
    plan.mesh.replicas = replicas;
    EXPECT_THAT(violations(plan), broken("/mesh/replicas", "do not cut 4 data ranks"));
  }
}

TEST(Violations, ContextRanksTakeEqualParts) {
  ParallelPlan plan = testing::tiny_plan({.context = 2});
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.workload.sequence = 30;
  EXPECT_THAT(violations(plan), broken("/mesh/context", "sequence 30 is not divisible into 4 pieces for 2 context ranks"));
  plan.context_algorithm = ContextAlgorithm::AllToAll;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.model.kv_heads = 1;
  EXPECT_THAT(violations(plan), broken("/context_algorithm", "4 heads and 1 key/value heads to tensor 1 x context 2 ranks"));
  plan.model.attention_dropout = 0.1;
  EXPECT_THAT(violations(plan), broken("/mesh/context", "attention dropout"));
}

TEST(Violations, SmallParametersStayWholeWhereUnitsAreFreed) {
  ParallelPlan plan = testing::tiny_plan({.data = 4});
  plan.persistence_threshold = 100;
  EXPECT_THAT(violations(plan), broken("/persistence_threshold", "parameters of at most 100 elements stay whole: below stage 3 all do"));
  plan.zero_stage = 3;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.mesh.reshard = 2;
  EXPECT_THAT(violations(plan), broken("/persistence_threshold", "2 neighbours keep units of the others"));
  plan.mesh.reshard = 1;
  plan.workload.precision = plan.workload.precision.with_weight_codec({Codec::Int8, 0});
  EXPECT_THAT(violations(plan), broken("/persistence_threshold", "beside units that are encoded"));
}

TEST(Violations, DocumentsHaveContextDegreesOfTheirOwn) {
  ParallelPlan plan = testing::tiny_plan({.context = 2});
  plan.context_by_document = true;
  EXPECT_THAT(violations(plan), broken("/context_by_document", "is of rows that hold documents"));
  std::vector<Violation> wrong;
  plan.workload.samples = parse_samples_policy("packed list 3 9", wrong);
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.context_algorithm = ContextAlgorithm::AllGather;
  EXPECT_THAT(violations(plan), broken("/context_by_document", "pass keys and values round a ring"));
  plan = testing::tiny_plan({.pipeline = 2, .context = 2});
  plan.context_by_document = true;
  plan.workload.samples = parse_samples_policy("packed list 3 9", wrong);
  EXPECT_THAT(violations(plan), IsEmpty());
}

TEST(Violations, NeighboursCutContextRanksIntoTwoLevels) {
  ParallelPlan plan = testing::tiny_plan({.context = 4});
  plan.context_algorithm = ContextAlgorithm::Hierarchical;
  for (const std::int32_t inner : {0, 1, 3, 4, 8}) {
    plan.mesh.context_inner = inner;
    EXPECT_THAT(violations(plan), broken("/mesh/context_inner", fmt::format("{} neighbours do not cut context 4", inner)));
  }
  plan.mesh.context_inner = 2;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.workload.sequence = 36;
  EXPECT_THAT(violations(plan), broken("/mesh/context", "sequence 36 is not divisible into 8 pieces"));
  plan.workload.sequence = 32;
  plan.model.kv_heads = 1;
  EXPECT_THAT(violations(plan),
              broken("/context_algorithm", "hierarchical deals 4 heads and 1 key/value heads to tensor 1 x context 2 ranks"));
  plan.context_algorithm = ContextAlgorithm::Ring;
  EXPECT_THAT(violations(plan), broken("/mesh/context_inner", "2 neighbours are of context_algorithm hierarchical; this is ring"));
}

TEST(Violations, TensorRanksShareKeyHeadsEvenly) {
  ParallelPlan plan = testing::tiny_plan({.tensor = 4});
  for (const std::int64_t heads : {1, 2, 4}) {
    plan.model.kv_heads = heads;
    EXPECT_THAT(violations(plan), IsEmpty()) << heads;
  }
  plan.model.heads = plan.model.kv_heads = 12;
  plan.model.kv_heads = 3;
  EXPECT_THAT(violations(plan),
              broken("/mesh/tensor", "3 key/value heads are neither divisible by tensor degree 4, nor do they divide it"));
}

TEST(Violations, ExpertsAreDealtOutEvenly) {
  ParallelPlan plan = testing::tiny_plan({.data = 4, .expert = 4});
  EXPECT_THAT(violations(plan), broken("/mesh/expert", "1 experts are not divisible by expert degree 4"));
  plan.model.experts = ExpertForm{.experts = 8, .topk = 2, .expert_ffn = 64};
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.mesh.expert = 8;
  EXPECT_THAT(violations(plan), broken("/mesh/expert", "4 data and context ranks of a replica are not divisible by expert degree 8"));
  plan.mesh.expert = plan.mesh.replicas = 2;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.mesh.expert = 4;
  EXPECT_THAT(violations(plan), broken("/mesh/expert", "2 data and context ranks of a replica are not divisible by expert degree 4"));
}

TEST(Violations, TokensAreExchangedBesideAnotherMicrobatch) {
  ParallelPlan plan = testing::tiny_plan({.data = 4});
  plan.expert_overlap = true;
  plan.token_dispatcher = TokenDispatcher::Hierarchical;
  EXPECT_THAT(violations(plan), broken("/expert_overlap", "nobody exchanges any"));
  EXPECT_THAT(violations(plan), broken("/token_dispatcher", "nobody exchanges any"));
  plan.model.experts = ExpertForm{.experts = 8, .topk = 2, .expert_ffn = 64};
  plan.mesh.expert = 4;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.recompute = Recompute::Full;
  EXPECT_THAT(violations(plan), broken("/expert_overlap", "experts are recomputed"));
  plan.recompute = Recompute::None;
  plan.token_dispatcher = TokenDispatcher::AllGather;
  EXPECT_THAT(violations(plan), broken("/expert_overlap", "all tokens are gathered"));
  plan.expert_overlap = false;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.model.experts->dispatch = ExpertDispatch::Drop;
  plan.model.experts->capacity_factor = 1;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.model.experts->dispatch = ExpertDispatch::Padded;
  EXPECT_THAT(violations(plan), broken("/token_dispatcher", "gathers all tokens"));
  plan.model.experts->capacity_factor = 0;
  plan.expert_overlap = true;
  plan.token_dispatcher = TokenDispatcher::Hierarchical;
  plan.delay_wgrad = true;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.expert_overlap = false;
  EXPECT_THAT(violations(plan), broken("/delay_wgrad", "none is beside anything"));
  plan.expert_overlap = true;
  plan.zero_stage = 3;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.reshard_after_forward = false;
  EXPECT_THAT(violations(plan), broken("/expert_overlap", "stage 3"));
}

TEST(Violations, OfSchedulesThatSplitOneIsWrittenForPairs) {
  ParallelPlan plan = testing::interleaved_plan({.data = 4, .pipeline = 2, .expert = 2}, 2);
  plan.model.experts = ExpertForm{.experts = 8, .topk = 2, .expert_ffn = 64};
  plan.expert_overlap = true;
  plan.workload.global_batch = 16;
  plan.microbatch_size = 1;
  plan.schedule = "dualpipev";
  EXPECT_THAT(violations(plan), IsEmpty());
  for (const char* circle : {"zbv", "v-half"}) {
    plan.schedule = circle;
    EXPECT_THAT(violations(plan), broken("/expert_overlap", "weight gradients are put off")) << circle;
  }
}

TEST(Violations, LoadsAreOfTheNetworksExperts) {
  ParallelPlan plan = testing::tiny_plan();
  plan.workload.expert_loads = {.kind = LoadKind::List, .tokens = {1, 2, 3}};
  EXPECT_THAT(violations(plan), broken("/workload/expert_loads", "has none"));
  plan.model.experts = ExpertForm{.experts = 8, .topk = 2, .expert_ffn = 64};
  EXPECT_THAT(violations(plan), broken("/workload/expert_loads", "lists 3 loads for 8 experts"));
  plan.workload.expert_loads.tokens = {9, 1, 1, 1, 1, 1, 1, 1};
  EXPECT_THAT(violations(plan), broken("/workload/expert_loads", "an expert with 9 of 16 loads, and a token chooses it once among 2"));
  plan.workload.expert_loads = {.kind = LoadKind::Spread, .spread = 0.6};
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.model.experts->forced_balance = true;
  EXPECT_THAT(violations(plan), broken("/workload/expert_loads", "overruled"));
  plan.workload.expert_loads = {.kind = LoadKind::Even};
  EXPECT_THAT(violations(plan), IsEmpty());
}

TEST(Violations, ExpertsWithADegreeOfTheirOwnFillTheStage) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .tensor = 2, .expert = 4, .expert_tensor = 1});
  EXPECT_THAT(violations(plan), broken("/mesh/expert_tensor", "without experts"));
  plan.model.experts = ExpertForm{.experts = 8, .topk = 2, .expert_ffn = 63};
  EXPECT_THAT(violations(plan), broken("/sequence_parallel", "the same tokens"));
  plan.sequence_parallel = true;
  EXPECT_THAT(violations(plan), IsEmpty());  // 63 columns that two tensor ranks could not share
  plan.mesh.expert_tensor = 3;
  EXPECT_THAT(violations(plan), broken("/mesh/expert_tensor",
                                       "4 ranks of a replica of a stage are not divisible by expert degree 4 x expert tensor degree 3"));
  plan.mesh.expert_tensor = 0;
  EXPECT_THAT(violations(plan), broken("/mesh/expert", "2 data and context ranks of a replica are not divisible by expert degree 4"));
}

TEST(Violations, InputsGoToTheHostOfRecomputedBlocksAlone) {
  ParallelPlan plan = testing::tiny_plan();
  plan.offload_activations = true;
  EXPECT_THAT(violations(plan), broken("/offload_activations", "recompute none"));
  plan.recompute = Recompute::Full;
  EXPECT_THAT(violations(plan), ::testing::IsEmpty());
}

TEST(Violations, BatchMustDivide) {
  EXPECT_THAT(violations(testing::tiny_plan({.data = 3, .pipeline = 1, .tensor = 1})),
              broken("/microbatch_size", "global batch 8 is not divisible"));
}

TEST(Violations, MicrobatchesHaveABound) {
  ParallelPlan plan = testing::tiny_plan();
  plan.workload.global_batch = kMostMicrobatches;
  plan.microbatch_size = 1;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.workload.global_batch *= 10;
  EXPECT_THAT(violations(plan), broken("/microbatch_size", "163840 microbatches a step are more than 16384"));
  EXPECT_EQ(violations(plan).front().remedy, "use a microbatch of at least 10");
}

TEST(Violations, ASequenceBeyondRotaryPositionsIsTold) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  plan.workload.sequence = plan.model.max_positions;
  EXPECT_THAT(notes(plan), ::testing::IsEmpty());
  plan.workload.sequence *= 2;
  EXPECT_THAT(notes(plan), broken("/workload/sequence", "beyond the 64 positions"));
}

TEST(Violations, ScaledProductsNeedAPartThatHasThem) {
  ParallelPlan plan = testing::tiny_plan();
  plan.cluster.hardware = load_hardware_profile("a100-80gb-sxm");
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Delayed, false);
  EXPECT_THAT(violations(plan), broken("/workload/precision", "a100-80gb-sxm has no fp8 rate"));
  plan.cluster.hardware = load_hardware_profile("h100-80gb-sxm");
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Mx, false);
  EXPECT_THAT(violations(plan), broken("/workload/precision", "no matrix unit that takes mx scales"));
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Nvfp4, false);
  EXPECT_THAT(violations(plan), broken("/workload/precision", "has no fp4 rate"));
  plan.cluster.hardware = load_hardware_profile("b200-180gb-sxm");
  EXPECT_THAT(violations(plan), IsEmpty());
}

TEST(Violations, WholeSumsOfGradientsAreAWayOfStagesOneAndTwo) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.gradient_sync = GradientSync::AllReduce;
  EXPECT_THAT(violations(plan), broken("/gradient_sync", "this is stage 0"));
  plan.zero_stage = 1;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.accumulation = Accumulation::ReduceEach;
  EXPECT_THAT(violations(plan), broken("/gradient_sync", "of stage 1 with reduce_last"));
  plan.zero_stage = 2;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.zero_stage = 3;
  EXPECT_THAT(violations(plan), broken("/gradient_sync", "this is stage 3"));
}

TEST(Violations, GraphsOfKernelsAreAGpus) {
  ParallelPlan plan = testing::tiny_plan();
  plan.cuda_graphs = CudaGraphs::PerLayer;
  EXPECT_THAT(violations(plan), broken("/cuda_graphs", "a CPU issues its kernels itself"));
}

TEST(Violations, HardwareMustHaveThePrecision) {
  ParallelPlan plan = testing::tiny_plan();
  plan.workload.precision = Precision::Bf16;
  EXPECT_THAT(violations(plan), broken("/workload/precision", "has no bf16 rate"));
}

TEST(Violations, ASplitBackwardIsReducedAtTheEnd) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 2});
  plan.schedule = "zb-1p";
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.accumulation = Accumulation::ReduceEach;
  EXPECT_THAT(violations(plan), broken("/accumulation", "weight gradients come later"));
}

}  // namespace
}  // namespace sim
