#include "sim/cost/modelled_kernels.h"

#include <gtest/gtest.h>

#include "sim/cost/task_prices.h"
#include "sim/task_graph/layer_tasks.h"
#include "tests/sim/cost/a100_plan.h"
#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

double device_time(const ParallelPlan& plan, const KernelCall& call) { return ModelledKernels(plan).work(call).device; }

TEST(ModelledKernels, OnlyWhereTheProfileSpeaksOfKernelsAndNothingWasMeasured) {
  HardwareProfile profile = load_hardware_profile("a100-80gb-sxm");
  EXPECT_TRUE(is_modelled(profile));
  profile.measured.resize(1);
  EXPECT_FALSE(is_modelled(profile));
  EXPECT_FALSE(is_modelled(testing::small_gpu()));
}

TEST(ModelledKernels, SmallerStatesAreSteppedFaster) {
  ParallelPlan plan = testing::a100_plan("plain");
  const double before = ModelledKernels(plan).optimizer_bytes();
  plan.workload.precision = plan.workload.precision.with(Numbers::Moments, Precision::Bf16);
  EXPECT_EQ(ModelledKernels(plan).optimizer_bytes(), before - 2 * 2 * 2) << "two moments, two bytes less each, read and written";
}

TEST(ModelledKernels, AProductIsThatOfTheClock) {
  ParallelPlan plan = testing::a100_plan("plain");
  plan.cluster.software.autocast = false;
  const Device device(plan.cluster.hardware);
  const KernelSetting setting = setting_of(plan);
  const KernelClock clock(device, plan.cluster.software, setting);
  EXPECT_EQ(device_time(plan, {Kernel::LinearForward, {4096, 8192, 2048}}), clock.product({4096, 8192, 2048}).device);
  EXPECT_EQ(device_time(plan, {Kernel::LinearInputGradient, {4096, 8192, 2048}}), clock.product({4096, 2048, 8192}).device);
}

// 4 bytes become 2 in front of a product, and 2 become 4 behind its weight gradient; the input's gradient reads what was cast.
TEST(ModelledKernels, AutocastCastsWeightsThatAreMasters) {
  ParallelPlan plan = testing::a100_plan("plain"), cast = plan;
  plan.cluster.software.autocast = false;
  cast.cluster.software.autocast = true;
  ASSERT_TRUE(setting_of(cast).autocast);
  const Device device(plan.cluster.hardware);
  const KernelSetting setting = setting_of(plan);
  const double each = KernelClock(device, plan.cluster.software, setting).bytes(6.0 * 8192 * 2048).device;
  for (const auto& [kernel, casts] :
       {std::pair(Kernel::LinearForward, 1), {Kernel::LinearWeightGradient, 1}, {Kernel::LinearInputGradient, 0}}) {
    const KernelCall call{kernel, {4096, 8192, 2048}};
    EXPECT_NEAR(device_time(cast, call) - device_time(plan, call), casts * each, 1e-9 * each);
  }
  cast.zero_stage = 3;
  EXPECT_FALSE(setting_of(cast).autocast) << "what is gathered was cast";
  cast.zero_stage = 0;
  cast.workload.precision = Precision::Fp32;
  EXPECT_FALSE(setting_of(cast).autocast);
}

TEST(ModelledKernels, ScaledProductsAreFasterAndHeadsStayOutOfThem) {
  ParallelPlan plan = testing::a100_plan("plain");
  plan.cluster.hardware = load_hardware_profile("h100-80gb-sxm");
  const KernelCall call{Kernel::LinearForward, {8192, 8192, 8192}};
  KernelCall head = call;
  head.unscaled = true;
  const double wide = device_time(plan, call);
  for (const ScaleRecipe recipe : {ScaleRecipe::Delayed, ScaleRecipe::Tensorwise, ScaleRecipe::Blockwise}) {
    plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(recipe, false);
    EXPECT_LT(device_time(plan, call), 0.9 * wide);
    EXPECT_EQ(device_time(plan, head), wide);
  }
}

// A kernel that puts out fp32 of 16 bit casts nothing forward. Backward, and in other programs, operands are cast, and multiplied at that type's rate.
TEST(ModelledKernels, RoutersMultiplyInATypeOfTheirOwn) {
  const auto time = [](const char* software, std::optional<Precision> wide, Kernel kernel) {
    ParallelPlan plan = testing::a100_plan(software);
    return device_time(plan, {.kernel = kernel, .shape = {4096, 256, 7168}, .unscaled = true, .wide = wide});
  };
  for (const Kernel kernel : {Kernel::LinearForward, Kernel::LinearInputGradient, Kernel::LinearWeightGradient}) {
    EXPECT_GT(time("plain", Precision::Fp32, kernel), 4 * time("plain", std::nullopt, kernel));
    EXPECT_GT(time("plain", Precision::Fp64, kernel), time("plain", Precision::Fp32, kernel));
    EXPECT_LT(time("megatron-core-2025", Precision::Fp32, kernel), time("plain", Precision::Fp32, kernel)) << "through TF32, or as it is";
  }
  const double forward = time("megatron-core-2025", Precision::Fp32, Kernel::LinearForward),
               narrow = time("megatron-core-2025", std::nullopt, Kernel::LinearForward);
  EXPECT_GT(forward, narrow);
  EXPECT_LT(forward, 1.5 * narrow);
  EXPECT_GT(time("megatron-core-2025", Precision::Fp64, Kernel::LinearForward), 2 * forward);
}

// Of a block of experts and of the head; nothing else changes.
TEST(ModelledKernels, WordsOfPrecisionByKindChangeTheirOwnTasks) {
  ParallelPlan plan = testing::a100_plan("megatron-core-2025");
  plan.cluster.hardware = load_hardware_profile("h100-80gb-sxm");
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 32};
  std::vector<Violation> wrong;
  const auto price = [&](const char* precision, LayerIndex layer, Phase phase, Operation segment) {
    plan.workload.precision = parse_precision_policy(precision, wrong);
    const ModelGraph model = make_model_graph(plan);
    return TaskPrices(model, plan).layer_task({layer, phase, segment}).duration;
  };
  const LayerIndex block(1), head = make_model_graph(plan).head();
  for (const Phase phase : {Phase::Forward, Phase::Backward}) {
    EXPECT_GT(price("bf16 routers=fp32", block, phase, Operation::ExpertInput), price("bf16", block, phase, Operation::ExpertInput));
    EXPECT_EQ(price("bf16 routers=fp32", block, phase, Operation::Attention), price("bf16", block, phase, Operation::Attention));
    EXPECT_GT(price("bf16 stream=fp32", block, phase, Operation::Attention), price("bf16", block, phase, Operation::Attention));
    EXPECT_EQ(price("fp8:rowwise head=fp8", block, phase, Operation::Attention), price("fp8:rowwise", block, phase, Operation::Attention));
    EXPECT_NE(price("fp8:rowwise head=fp8", head, phase, Operation::Head), price("fp8:rowwise", head, phase, Operation::Head));
  }
}

TEST(ModelledKernels, FrozenWeightsThatAreKeptIn8BitAreNotCast) {
  ParallelPlan plan = testing::a100_plan("plain");
  plan.cluster.hardware = load_hardware_profile("h100-80gb-sxm");
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Delayed, false);
  plan.model.adapters = Adapters{}.on(AdapterTarget::Query);
  const KernelCall call{Kernel::LinearForward, {1024, 8192, 8192}};
  const double cast = device_time(plan, call);
  plan.model.adapters->base = BaseFormat::Fp8;
  const double memory = plan.cluster.hardware.memory_bandwidth.value(), weight = 8192.0 * 8192;
  EXPECT_GT(cast - device_time(plan, call), 2 * weight / memory) << "two bytes of each number were read, at least";
}

TEST(ModelledKernels, PartsThatReadOperandsEitherWayWriteNoTransposedCopies) {
  ParallelPlan plan = testing::a100_plan("plain");
  plan.cluster.hardware = load_hardware_profile("b200-180gb-sxm");
  ASSERT_TRUE(plan.cluster.hardware.kernels->reads_either_way);
  const KernelCall call{Kernel::LinearForward, {8192, 8192, 8192}};
  const auto left_out = [&](ScaleRecipe recipe) {
    plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(recipe, false);
    ParallelPlan one_way = plan;
    one_way.cluster.hardware.kernels->reads_either_way = false;
    return device_time(one_way, call) - device_time(plan, call);
  };
  const HardwareProfile& part = plan.cluster.hardware;
  const double copies = 2 * 8192.0 * 8192 * 0.5 / (part.memory_bandwidth.value() * part.memory_efficiency);  // a byte each, for two uses
  EXPECT_NEAR(left_out(ScaleRecipe::Tensorwise) / copies, 1, 0.1);
  EXPECT_NEAR(left_out(ScaleRecipe::Delayed) / copies, 1, 0.1);
  EXPECT_EQ(left_out(ScaleRecipe::Mx), 0) << "blocks are scaled along either dimension: both copies are needed";
}

TEST(ModelledKernels, BiasesOfExpertsThatNoProductAddsPassThroughMemory) {
  ParallelPlan plan = testing::a100_plan("plain");
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 512};
  KernelCall call{Kernel::LinearForward, {4096, 8192, 512, 4}};
  const double bare = device_time(plan, call);
  call.adds_bias = true;
  EXPECT_EQ(device_time(plan, call), bare);
  plan.cluster.software.unfused_expert_bias = true;
  const double added = device_time(plan, call) - bare, bytes = 4.0 * 4096 * 8192 * 2;
  EXPECT_GT(added, 14 * bytes / plan.cluster.hardware.memory_bandwidth.value());
  plan.cuda_graphs = CudaGraphs::FullIteration;
  EXPECT_EQ(device_time(plan, call), bare) << "what is cut by counts of the host cannot be captured: another kernel adds them there";
}

TEST(ModelledKernels, OperandsThatTensorRanksGatherAreCastInParts) {
  ParallelPlan plan = testing::a100_plan("plain");
  plan.cluster.hardware = load_hardware_profile("h100-80gb-sxm");
  plan.mesh.tensor = 2;
  plan.sequence_parallel = true;
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Tensorwise, false);
  KernelCall call{Kernel::LinearForward, {8192, 8192, 8192}};
  call.gathered_rows = true;
  const double whole = device_time(plan, call);
  plan.cluster.software.gathers_fp8 = true;
  EXPECT_LT(device_time(plan, call), whole);
}

TEST(ModelledKernels, GradientsOfLaterMicrobatchesAreAddedUnlessOnlyTheirSumsAre) {
  ParallelPlan plan = testing::a100_plan("plain");
  plan.mesh = {.data = 2};
  plan.workload.global_batch = plan.microbatch_size * plan.mesh.data;
  const KernelCall call{Kernel::LinearWeightGradient, {4096, 8192, 2048}};
  const double once = device_time(plan, call);
  plan.workload.global_batch *= 4;
  EXPECT_GT(device_time(plan, call), once);
  plan.accumulation = Accumulation::ReduceEach;  // a task of its own
  EXPECT_EQ(device_time(plan, call), once);
  plan.mesh = {.data = 1};  // with nobody to reduce with there is none
  EXPECT_GT(device_time(plan, call), once);
}

// Experts that are dealt out to all ranks are reduced with nobody.
TEST(ModelledKernels, GradientsOfExpertsThatNobodySharesAreAdded) {
  ParallelPlan plan = testing::a100_plan("plain");
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 512};
  plan.mesh = {.data = 4, .expert = 4};
  plan.workload.global_batch = plan.microbatch_size * plan.mesh.data * 4;
  const KernelCall call{Kernel::LinearWeightGradient, {4096, 8192, 2048, 1}};
  const double added = device_time(plan, call);
  plan.accumulation = Accumulation::ReduceEach;
  EXPECT_EQ(device_time(plan, call), added);
  plan.mesh.expert = 2;
  EXPECT_LT(device_time(plan, call), added);
}

TEST(ModelledKernels, SelectiveRecomputationMakesScoresAgainWhereAnyAreKept) {
  ParallelPlan fused = testing::a100_plan("plain"), unfused = testing::a100_plan("plain");
  unfused.cluster.software.attention = "unfused";
  const KernelCall backward{Kernel::AttentionBackward, {4, 16, 1024, 64}}, forward{Kernel::AttentionForward, {4, 16, 1024, 64}};
  const double fused_before = device_time(fused, backward), unfused_before = device_time(unfused, backward);
  fused.recompute = unfused.recompute = Recompute::Selective;
  EXPECT_EQ(device_time(fused, backward), fused_before);
  EXPECT_DOUBLE_EQ(device_time(unfused, backward), unfused_before + device_time(unfused, forward));
}

// Long samples: nothing but products. A mask that is handed over hides nothing from the kernel, and a window neither.
TEST(ModelledKernels, APlanSaysWhichKernelAttends) {
  ParallelPlan plan = testing::a100_plan("plain");
  const KernelCall forward{Kernel::AttentionForward, {1, 16, 65536, 128}};
  const auto time = [&](AttentionWord word) {
    plan.attention = word;
    return device_time(plan, forward);
  };
  const double usual = time(AttentionWord::AsTheProgram), efficient = time(AttentionWord::Efficient);
  EXPECT_NEAR(time(AttentionWord::EfficientMasked) / efficient, 2, 0.02);
  EXPECT_DOUBLE_EQ(time(AttentionWord::Flash2), usual) << "what plain programs have";
  EXPECT_GT(efficient, 2 * usual);
  EXPECT_GT(time(AttentionWord::Unfused), 2 * efficient);
}

TEST(ModelledKernels, AKernelThatSkipsNothingSeesBehindAWindow) {
  ParallelPlan plan = testing::a100_plan("plain");
  plan.workload.sequence = 4096;
  plan.model.window = 64;
  plan.model.attention.kind = AttentionKind::Sliding;
  const auto time = [&](AttentionWord word) {
    plan.attention = word;
    const ModelGraph model = make_model_graph(plan);
    double all = 0;
    for (const KernelCall& call : kernels_of(model, plan, {LayerIndex(1), Phase::Forward, Operation::Attention}).calls)
      if (call.kernel == Kernel::AttentionForward) all += device_time(plan, call);
    return all;
  };
  const double windowed = time(AttentionWord::EfficientMasked), skipping = time(AttentionWord::Efficient);
  plan.model.window = 0;
  EXPECT_DOUBLE_EQ(windowed, time(AttentionWord::EfficientMasked));
  EXPECT_LT(skipping, time(AttentionWord::Efficient));
}

TEST(ModelledKernels, EveryKernelOfATaskHasAPrice) {
  testing::PlanGenerator plans(7);
  for (int drawn = 0; drawn < 40; ++drawn) {
    ParallelPlan plan = plans.next(DeviceKind::Gpu);
    plan.cluster = testing::described(plan.cluster, true);
    const ModelGraph model = make_model_graph(plan);
    const ModelledKernels kernels(plan);
    for (const LayerIndex layer : model.firsts)
      for (const Phase phase : {Phase::Forward, Phase::Backward})
        for (const Piece& piece : pieces_of(model, plan, layer, phase)) {
          if (is_communication(piece.operation)) continue;
          for (const KernelCall& call : kernels_of(model, plan, {layer, phase, piece.operation}).calls)
            EXPECT_GT(kernels.work(call).device, 0) << kKernelNames[static_cast<std::size_t>(call.kernel)];
        }
  }
}

TEST(ModelledKernels, AWeightsGradientCastsNothingOfItsExperts) {
  ParallelPlan half = testing::a100_plan("plain");
  half.cluster.hardware = load_hardware_profile("h100-80gb-sxm");
  half.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 512};
  ParallelPlan scaled = half;
  scaled.workload.precision = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Tensorwise, false);
  const auto more = [&](Kernel kernel) {
    const KernelCall call{kernel, {4096, 8192, 512, 4}};
    return ModelledKernels(scaled).work(call).kernels - ModelledKernels(half).work(call).kernels;
  };
  const double cast = 4 * common_behavior().cast_launches;
  EXPECT_GT(more(Kernel::LinearForward), cast) << "rows, and weights once a step or more";
  EXPECT_EQ(more(Kernel::LinearInputGradient), cast);
  EXPECT_EQ(more(Kernel::LinearWeightGradient), 0);
}

TEST(ModelledKernels, TheStepsOverheadIsPaidOnce) {
  ParallelPlan plan = testing::a100_plan("plain");
  const Seconds before = ModelledKernels(plan).flat(Operation::NormPart, {1000});
  plan.cluster.software.step_overhead += Seconds(0.5);
  EXPECT_DOUBLE_EQ((ModelledKernels(plan).flat(Operation::NormPart, {1000}) - before).count(), 0.5);
  EXPECT_GT(ModelledKernels(plan).flat(Operation::Update, {1'000'000'000}),
            ModelledKernels(plan).flat(Operation::Accumulate, {1'000'000'000}));
}

TEST(ModelledKernels, BroadcastsOfNewWeightsAreStartedOneByOne) {
  ParallelPlan plan = testing::a100_plan("plain");
  plan.mesh = {.data = 8};
  plan.cluster.devices = 8;
  plan.zero_stage = 1;
  const Seconds before = ModelledKernels(plan).flat(Operation::NormPart, {1000});
  plan.cluster.software.broadcast_start = Seconds(0.5);
  plan.cluster.software.overlap_gather = false;
  EXPECT_DOUBLE_EQ((ModelledKernels(plan).flat(Operation::NormPart, {1000}) - before).count(), 4);
  plan.zero_stage = 3;
  EXPECT_EQ(ModelledKernels(plan).flat(Operation::NormPart, {1000}), before);
}

}  // namespace
}  // namespace sim
