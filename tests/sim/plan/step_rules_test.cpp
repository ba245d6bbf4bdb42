#include <gmock/gmock.h>

#include "tests/sim/plan/broken.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

using testing::broken;
using ::testing::IsEmpty;

TEST(StepRules, CodecsOfTheWire) {
  const auto found = [](std::int32_t stage, const char* precision, DeviceMesh mesh = {.data = 4}) {
    ParallelPlan plan = testing::tiny_plan(mesh);
    plan.zero_stage = stage;
    std::vector<Violation> wrong;
    plan.workload.precision = parse_precision_policy(precision, wrong);
    EXPECT_THAT(wrong, IsEmpty()) << precision;
    return violations(plan);
  };
  constexpr const char* kWhere = "/workload/precision";
  EXPECT_THAT(found(0, "fp32 wire=powersgd:4"), IsEmpty());
  EXPECT_THAT(found(2, "fp32 wire=powersgd:4"),
              broken(kWhere, "wire=powersgd:4 is of whole matrices, which the flat shards of stage 2 cut"));
  EXPECT_THAT(found(0, "fp32 wire=powersgd:4", {.data = 4, .replicas = 2}), broken(kWhere, "and 2 replicas sum once more"));
  EXPECT_THAT(found(0, "fp16 wire=powersgd:4"), broken(kWhere, "whose loss may have another scale in fp16"));
  ParallelPlan pieces = testing::tiny_plan({.data = 4});
  pieces.partition_size = pieces.credit_size = Bytes(1 << 20);
  pieces.workload.precision = pieces.workload.precision.with_gradient_codec({Codec::PowerSgd, 2});
  EXPECT_THAT(violations(pieces), broken("/partition_size", "a codec is of whole buckets"));
  EXPECT_THAT(found(0, "fp32 wire=int4"), broken(kWhere, "wire=int4 is decoded by the rank that sums a shard"));
  EXPECT_THAT(found(3, "fp32 gathers=int8 wire=int4"), IsEmpty());
  EXPECT_THAT(found(2, "fp32 gathers=int8"), broken(kWhere, "gathers=int8 is of weights that are gathered unit by unit; this is stage 2"));
}

TEST(StepRules, EndsInFullPrecision) {
  constexpr const char* kWhere = "/workload/precision";
  ParallelPlan plan = testing::tiny_plan({.data = 4});
  plan.model.tied_embeddings = false;
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with_full(EndUnit::Head);
  plan.cluster.hardware.peak.fill(FlopsPerSecond(25e9));
  EXPECT_THAT(violations(plan), IsEmpty());
  const auto with = [&](const auto& change) {
    ParallelPlan changed = plan;
    change(changed);
    return violations(changed);
  };
  EXPECT_THAT(with([](ParallelPlan& p) { p.model.tied_embeddings = true; }), broken(kWhere, "they share a weight"));
  EXPECT_THAT(with([](ParallelPlan& p) {
                p.model.tied_embeddings = true;
                p.workload.precision = p.workload.precision.with_full(EndUnit::Embedding);
              }),
              IsEmpty());
  EXPECT_THAT(with([](ParallelPlan& p) {
                p.workload.precision = p.workload.precision.with_gradient_codec({Codec::PowerSgd, 2});
              }),
              broken(kWhere, "a codec encodes whole buckets of one type"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.zero_stage = 3, p.persistence_threshold = 100; }), broken(kWhere, "small parameters"));
  EXPECT_THAT(with([](ParallelPlan& p) { sim::at(p.cluster.hardware.peak, Precision::Fp32) = {}; }), broken(kWhere, "no fp32 rate"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.model.frozen.first = 1; }), broken(kWhere, "weights that are not trained keep one type"));
}

TEST(StepRules, BlocksInFullPrecisionStandBetweenOthers) {
  ParallelPlan plan = testing::tiny_plan({.data = 4});
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with_full(BlockRanges{{0, 0}, {2, 3}});
  plan.cluster.hardware.peak.fill(FlopsPerSecond(25e9));
  EXPECT_THAT(violations(plan), IsEmpty());
  EXPECT_FALSE(plan.is_full(LayerIndex(0)));
  EXPECT_TRUE(plan.is_full(LayerIndex(1)));
  EXPECT_FALSE(plan.is_full(LayerIndex(2)));
  EXPECT_TRUE(plan.is_full(LayerIndex(4)));
  const auto with = [&](const auto& change) {
    ParallelPlan changed = plan;
    change(changed);
    return violations(changed);
  };
  EXPECT_THAT(with([](ParallelPlan& p) {
                p.workload.precision = p.workload.precision.with_full(BlockRanges{{2, 40}});
              }),
              broken("/workload/precision", "block 40"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.workload.precision = p.workload.precision.with(ScaleRecipe::Delayed, false); }),
              broken("/workload/precision", "products with scales"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.model.halves.assign(count_of(p.model.layers), BlockHalf::Both); }),
              broken("/workload/precision", "two halves"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.model.shared_kv_layers = 1; }), broken("/workload/precision", "read keys of blocks"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.token_dispatcher = TokenDispatcher::AllGather, p.mesh.expert = 2; }),
              broken("/workload/precision", "one buffer of one type"));
}

TEST(StepRules, BlocksWithoutScalesStandBesideOthers) {
  constexpr auto kWhere = "/workload/precision";
  ParallelPlan plan = testing::tiny_plan({.data = 4});
  plan.cluster.hardware.peak.fill(FlopsPerSecond(25e9));
  const PrecisionPolicy scaled = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Tensorwise, false);
  plan.workload.precision = scaled.with_unscaled(BlockRanges{{0, 0}, {3, 3}});
  EXPECT_THAT(violations(plan), IsEmpty());
  EXPECT_FALSE(plan.is_unscaled(LayerIndex(0)));
  EXPECT_TRUE(plan.is_unscaled(LayerIndex(1)));
  EXPECT_FALSE(plan.is_unscaled(LayerIndex(2)));
  EXPECT_TRUE(plan.is_unscaled(LayerIndex(4)));
  EXPECT_FALSE(plan.is_unscaled(LayerIndex(5)));
  const auto with = [&](const auto& change) {
    ParallelPlan changed = plan;
    change(changed);
    return violations(changed);
  };
  EXPECT_THAT(with([&](ParallelPlan& p) {
                p.workload.precision = scaled.with_unscaled(BlockRanges{{2, 40}});
              }),
              broken(kWhere, "block 40"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.workload.precision = p.workload.precision.with(ScaleRecipe::Delayed, false); }),
              broken(kWhere, "one list for all products"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.workload.precision = p.workload.precision.with_full(EndUnit::Head); }),
              broken(kWhere, "not for three"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.model.halves.assign(count_of(p.model.layers), BlockHalf::Both); }),
              broken(kWhere, "two halves"));
}

TEST(StepRules, MuonStepsWholeMatrices) {
  ParallelPlan plan = testing::tiny_plan({.data = 4});
  plan.workload.optimizer = OptimizerKind::Muon;
  plan.zero_stage = 1;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.zero_stage = 2;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.zero_stage = 3;
  EXPECT_THAT(violations(plan), broken("/workload/optimizer", "stage 3 gives each rank a piece"));
}

TEST(StepRules, WholeTensorsAreDealtInStages1And2) {
  ParallelPlan plan = testing::tiny_plan({.data = 4});
  plan.state_shards = StateShards::Tensors;
  for (const std::int32_t stage : {0, 3}) {
    plan.zero_stage = stage;
    EXPECT_THAT(violations(plan), broken("/state_shards", "stages 1 and 2 share")) << stage;
  }
  plan.zero_stage = 2;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.offload_optimizer = true;
  EXPECT_THAT(violations(plan), broken("/state_shards", "stepped where they are trained"));
  plan.offload_optimizer = false;
  plan.mesh.replicas = 2;
  EXPECT_THAT(violations(plan), broken("/state_shards", "summed over 2 replicas"));
  plan.zero_stage = 1;
  plan.gradient_sync = GradientSync::AllReduce;
  EXPECT_THAT(violations(plan), IsEmpty());
}

TEST(StepRules, OwnersOfWholeTensorsSendThem) {
  ParallelPlan plan = testing::tiny_plan({.data = 4});
  plan.zero_stage = 1;
  plan.weight_sync = WeightSync::BroadcastFp16;
  EXPECT_THAT(violations(plan), broken("/weight_sync", "broadcast_fp16 is how owners"));
  plan.state_shards = StateShards::Tensors;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.workload.precision = Precision::Fp64;
  EXPECT_THAT(violations(plan), broken("/weight_sync", "casts fp32 weights on their way, and these are fp64"));
}

TEST(StepRules, AdafactorTakesWholeTensors) {
  ParallelPlan plan = testing::tiny_plan({.data = 4});
  plan.workload.optimizer = OptimizerKind::Adafactor;
  plan.zero_stage = 1;
  EXPECT_THAT(violations(plan), broken("/workload/optimizer", "a piece of a matrix"));
  plan.state_shards = StateShards::Tensors;
  EXPECT_THAT(violations(plan), IsEmpty());
}

TEST(StepRules, MomentsPageBetweenAGpuAndItsHost) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  plan.paged_optimizer = true;
  EXPECT_THAT(violations(plan), ::testing::IsEmpty());
  EXPECT_THAT(why_not_runnable(plan), broken("/paged_optimizer", "its allocator's memory"));
  const auto with = [&](const auto& change) {
    ParallelPlan changed = plan;
    change(changed);
    return violations(changed);
  };
  EXPECT_THAT(with([](ParallelPlan& p) { p.workload.optimizer = OptimizerKind::Sgd; }), broken("/paged_optimizer", "those of Adam"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.zero_stage = 2, p.offload_optimizer = true; }), broken("/paged_optimizer", "lie there already"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.cluster.hardware.kind = DeviceKind::Cpu; }), broken("/paged_optimizer", "a CPU rank has none"));
}

TEST(StepRules, DrivesHoldWhatIsOnTheHostOfAGpu) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  plan.offload_optimizer = true;
  plan.on_drive = OnDrive::Optimizer;
  EXPECT_THAT(violations(plan), broken("/on_drive", "this is stage 0"));
  plan.zero_stage = 3;
  EXPECT_THAT(violations(plan), ::testing::IsEmpty());
  plan.on_drive = OnDrive::Both;
  EXPECT_THAT(violations(plan), broken("/on_drive", "has the weights"));
  plan.offload_parameters = true;
  plan.accumulation = Accumulation::ReduceEach;
  EXPECT_THAT(violations(plan), ::testing::IsEmpty());
  plan.model.frozen = FrozenParts{}.with(FrozenPart::Norms);
  EXPECT_THAT(violations(plan), broken("/on_drive", "not trained"));
  plan.model.frozen = {};
  plan.offload_parameters = false;
  plan.on_drive = OnDrive::Optimizer;
  plan.offload_optimizer = false;
  EXPECT_THAT(violations(plan), broken("/on_drive", "not all of it is the host's"));
  plan.offload_optimizer = true;
  plan.cluster.hardware.kind = DeviceKind::Cpu;
  EXPECT_THAT(violations(plan), broken("/on_drive", "a CPU rank is its own"));
}

TEST(StepRules, WeightsGoToTheHostWithAllThatStepsThem) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.offload_parameters = true;
  plan.accumulation = Accumulation::ReduceEach;
  EXPECT_THAT(violations(plan), broken("/offload_parameters", "this is stage 0"));
  plan.zero_stage = 3;
  EXPECT_THAT(violations(plan), broken("/offload_parameters", "needs the optimizer where the weights are"));
  plan.offload_optimizer = true;
  EXPECT_THAT(violations(plan), ::testing::IsEmpty());
  plan.accumulation = Accumulation::ReduceLast;
  EXPECT_THAT(violations(plan), broken("/offload_parameters", "reduce_last keeps those of"));
}

TEST(StepRules, AdafactorStepsWholeMatrices) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.workload.optimizer = OptimizerKind::Adafactor;
  EXPECT_THAT(violations(plan), ::testing::IsEmpty());
  plan.zero_stage = 1;
  EXPECT_THAT(violations(plan), broken("/workload/optimizer", "a piece of a matrix"));
}

// What needs the norm of all gradients first cannot cross the end of a step, unless it is undone where it was wrong.
TEST(StepRules, ALayerIsSteppedWithItsOwnSumAlone) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.partition_size = Bytes(1 << 20);
  plan.credit_size = Bytes(4 << 20);
  EXPECT_THAT(violations(plan), broken("/partition_size", "clipping to 1 needs the norm of all"));
  plan.training.gradient_clip = 0;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.zero_stage = 1;
  EXPECT_THAT(violations(plan), broken("/partition_size", "stage 1 shards that"));
  plan.zero_stage = 0;
  plan.credit_size = Bytes(0);
  EXPECT_THAT(violations(plan), broken("/credit_size", "0 B with a partition of 1048576 B"));
  plan.credit_size = Bytes(4 << 20);
  plan.partition_size = Bytes(1000);
  EXPECT_THAT(violations(plan), broken("/partition_size", "1000 B"));
}

TEST(StepRules, APipelineMayStepBeforeItKnowsTheNorm) {
  ParallelPlan plan = testing::tiny_plan({.pipeline = 2});
  plan.post_validation = PostValidation::InPlace;
  EXPECT_THAT(violations(plan), broken("/post_validation", "beside computing"));
  plan.cluster.hardware.overlaps_communication = true;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.workload.optimizer = OptimizerKind::Sgd;
  EXPECT_THAT(violations(plan), broken("/post_validation", "no step that arithmetic undoes"));
  plan.post_validation = PostValidation::Copies;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan = testing::tiny_plan({.data = 2});
  plan.cluster.hardware.overlaps_communication = true;
  plan.post_validation = PostValidation::Copies;
  EXPECT_THAT(violations(plan), broken("/post_validation", "is of pipelines"));
}

TEST(StepRules, NewWeightsAreGatheredWhereRanksStepShards) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.overlap_weight_gather = true;
  EXPECT_THAT(violations(plan), broken("/overlap_weight_gather", "this is stage 0"));
  plan.zero_stage = 1;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.offload_optimizer = true;
  EXPECT_THAT(violations(plan), broken("/overlap_weight_gather", "come up from the host"));
}

TEST(StepRules, AShareIsOfAnOptimizerOnTheHost) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.offload_share = 0.5;
  EXPECT_THAT(violations(plan), broken("/offload_share", "this one is on the device"));
  plan.offload_optimizer = true;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.offload_share = 0;
  EXPECT_THAT(violations(plan), broken("/offload_share", "0 is no share of an optimizer"));
  plan.offload_share = 0.5;
  plan.zero_stage = 3;
  plan.offload_parameters = true;
  EXPECT_THAT(violations(plan), broken("/offload_share", "is not lowered for weights that lie on the host"));
}

TEST(Violations, ASecondCopyIsOfWeightsThatNeighboursKeep) {
  ParallelPlan plan = testing::tiny_plan({.data = 4});
  plan.kept_until = KeptUntil::Step;
  EXPECT_THAT(violations(plan), broken("/kept_until", "neighbours keep among them (stage 3)"));
  plan.zero_stage = 3, plan.mesh.reshard = 2;
  EXPECT_THAT(violations(plan), ::testing::IsEmpty());
  plan.reshard_after_forward = false;
  EXPECT_THAT(violations(plan), broken("/kept_until", "whole weights stay"));
}

TEST(StepRules, ABackwardGivesUpWhatWasGatheredForIt) {
  constexpr const char* kWhere = "/reshard_after_backward";
  ParallelPlan plan = testing::tiny_plan({.data = 4, .pipeline = 2});
  plan.reshard_after_backward = ReshardAfterBackward::Last;
  EXPECT_THAT(violations(plan), broken(kWhere, "this is stage 0"));
  plan.zero_stage = 3;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.mesh.reshard = 2;
  EXPECT_THAT(violations(plan), broken(kWhere, "neighbours keep"));
  plan.mesh.reshard = 1, plan.reshard_after_backward = ReshardAfterBackward::Each;
  EXPECT_THAT(violations(plan), broken(kWhere, "about to read"));
  plan.mesh.reshard = 2, plan.reshard_after_backward = ReshardAfterBackward::AsTheProgram;
  EXPECT_THAT(violations(plan), IsEmpty());
}

TEST(StepRules, WiderKindsStandInBlocksThatHaveThem) {
  const auto found = [](const char* precision, const auto& change) {
    ParallelPlan plan = testing::tiny_plan({.data = 2});
    plan.cluster.hardware = load_hardware_profile("h100-80gb-sxm");
    std::vector<Violation> wrong;
    plan.workload.precision = parse_precision_policy(precision, wrong);
    EXPECT_THAT(wrong, IsEmpty()) << precision;
    change(plan);
    return violations(plan);
  };
  constexpr const char* kWhere = "/workload/precision";
  const auto same = [](ParallelPlan&) {};
  const auto experts = [](ParallelPlan& plan) { plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 32}; };
  EXPECT_THAT(found("bf16 routers=fp64", experts), IsEmpty());
  EXPECT_THAT(found("bf16 routers=fp32", same), broken(kWhere, "and the network has none"));
  EXPECT_THAT(found("bf16 blocks:0=fp32 routers=fp32", experts), broken(kWhere, "and blocks in fp32"));
  EXPECT_THAT(found("bf16 routers=fp64",
                    [&](ParallelPlan& plan) {
                      experts(plan);
                      at(plan.cluster.hardware.peak, Precision::Fp64) = FlopsPerSecond(0);
                    }),
              broken(kWhere, "the hardware profile has no rate of it"));
  EXPECT_THAT(found("bf16 stream=fp32", same), IsEmpty());
  EXPECT_THAT(found("bf16 stream=fp64", same), broken(kWhere, "has a stream in fp64"));
  EXPECT_THAT(found("bf16 stream=fp32",
                    [](ParallelPlan& plan) {
                      plan.mesh = {.pipeline = 2}, plan.schedule = "zb-1p", plan.cut = even_cut(4, plan.pipeline_shape());
                    }),
              broken(kWhere, "a pass of their own"));
  EXPECT_THAT(found("bf16 head=fp32 stream=fp32", same), broken(kWhere, "a wider stream and units in fp32"));
  EXPECT_THAT(found("bf16 stream=fp32", [](ParallelPlan& plan) { plan.model.norm_place = NormPlace::AfterSum; }),
              broken(kWhere, "a norm in front of each half"));
  const auto frozen = [](ParallelPlan& plan) { plan.model.frozen = FrozenParts().with(FrozenPart::Norms); };
  const auto adapters = [](ParallelPlan& plan) { plan.model.adapters = Adapters{.rank = 8}.on(AdapterTarget::Query); };
  const auto with = [&](const auto& first, auto change) {
    return [first, change](ParallelPlan& plan) {
      first(plan);
      change(plan);
    };
  };
  EXPECT_THAT(found("bf16 norms=fp32", frozen), IsEmpty());
  EXPECT_THAT(found("bf16 norms=fp32", adapters), IsEmpty());
  EXPECT_THAT(found("bf16 stream=fp32 norms=fp32", adapters), IsEmpty());
  EXPECT_THAT(found("bf16 norms=fp32", same), broken(kWhere, "norms in fp32 that are trained"));
  EXPECT_THAT(found("bf16 norms=fp64", frozen), broken(kWhere, "has norms in fp64"));
  EXPECT_THAT(found("bf16 weights=fp32 norms=fp32", frozen), broken(kWhere, "no narrower than they are"));
  EXPECT_THAT(found("bf16 norms=fp32", with(frozen, [](ParallelPlan& plan) { plan.zero_stage = 3; })), broken(kWhere, "in one type"));
  EXPECT_THAT(found("bf16 norms=fp32", with(frozen, [](ParallelPlan& plan) { plan.model.norm_place = NormPlace::AfterSum; })),
              broken(kWhere, "in front of each half of a block"));
  EXPECT_THAT(found("bf16 head=fp32 norms=fp32", frozen), broken(kWhere, "beside products with scales or units in fp32"));
  EXPECT_THAT(found("fp8:tensorwise head=fp8", same), IsEmpty());
  EXPECT_THAT(found("fp8:delayed head=fp8", same), broken(kWhere, "delayed scales are one list"));
  EXPECT_THAT(found("fp8:tensorwise head=fp32 head=fp8", same), broken(kWhere, "two things of the head"));
  EXPECT_THAT(found("fp8:tensorwise head=fp8", [](ParallelPlan& plan) { plan.cluster.hardware.kind = DeviceKind::Cpu; }),
              broken(kWhere, "CPU ranks round those of blocks alone"));
}

TEST(StepRules, TheWorkerHasOneTypeInABlock) {
  for (const char* precision : {"bf16 stream=fp32", "bf16 routers=fp32", "fp8:tensorwise head=fp8"}) {
    ParallelPlan plan = testing::tiny_plan();
    std::vector<Violation> wrong;
    plan.workload.precision = parse_precision_policy(precision, wrong);
    EXPECT_THAT(why_not_runnable(plan), broken("/workload/precision", "the worker")) << precision;
  }
}

TEST(StepRules, WeightsOfAHeadComeBehindTheLastBackward) {
  constexpr const char* kWhere = "/delay_head_wgrad";
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 2});
  plan.delay_head_wgrad = 2;
  EXPECT_THAT(violations(plan), IsEmpty());
  const auto with = [&](const auto& change) {
    ParallelPlan changed = plan;
    change(changed);
    return violations(changed);
  };
  EXPECT_THAT(with([](ParallelPlan& p) { p.delay_head_wgrad = -1; }), broken(kWhere, "is -1"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.mesh = {.data = 2}, p.cut = even_cut(4, p.pipeline_shape()); }), broken(kWhere, "one stage"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.schedule = "zb-1p"; }), broken(kWhere, "all are put off already"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.zero_stage = 2; }), broken(kWhere, "stages 2 and 3"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.accumulation = Accumulation::ReduceEach; }), broken(kWhere, "are reduced"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.slices = 2; }), broken(kWhere, "slices"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.model.frozen.first = 1; }), broken(kWhere, "a head that is trained"));
}

}  // namespace
}  // namespace sim
