#include "sim/cost/modelled_kernels.h"

#include <gtest/gtest.h>

#include "sim/cost/task_prices.h"
#include "sim/task_graph/layer_tasks.h"
#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

ParallelPlan a100_plan(const char* software = "plain") {
  ParallelPlan plan = testing::tiny_plan();
  plan.cluster.hardware = load_hardware_profile("a100-80gb-sxm");
  plan.cluster.software = load_software(software);
  plan.workload.precision = Precision::Bf16;
  return plan;
}

double device_time(const ParallelPlan& plan, const KernelCall& call) { return ModelledKernels(plan).work(call).device; }

TEST(ModelledKernels, OnlyWhereTheProfileSpeaksOfKernelsAndNothingWasMeasured) {
  HardwareProfile profile = load_hardware_profile("a100-80gb-sxm");
  EXPECT_TRUE(is_modelled(profile));
  profile.measured.resize(1);
  EXPECT_FALSE(is_modelled(profile));
  EXPECT_FALSE(is_modelled(testing::small_gpu()));
}

TEST(ModelledKernels, SmallerStatesAreSteppedFaster) {
  ParallelPlan plan = a100_plan();
  const double before = ModelledKernels(plan).optimizer_bytes();
  plan.workload.precision = plan.workload.precision.with(Numbers::Moments, Precision::Bf16);
  EXPECT_EQ(ModelledKernels(plan).optimizer_bytes(), before - 2 * 2 * 2) << "two moments, two bytes less each, read and written";
}

TEST(ModelledKernels, GraphsOfPartsOfBlocksLeaveTheOthersHost) {
  ParallelPlan plan = a100_plan("megatron-core-2025");
  const auto issue = [&](Operation segment) {
    const ModelGraph model = make_model_graph(plan);
    return TaskPrices(model, plan).layer_task({LayerIndex(1), Phase::Forward, segment}).issue;
  };
  const SimTime attention = issue(Operation::Attention), mlp = issue(Operation::Mlp);
  plan.cuda_graphs = CudaGraphs::PerLayer;
  const SimTime in_graph = issue(Operation::Attention);
  EXPECT_LT(in_graph, attention);
  plan.graph_scope = GraphScope().with(GraphPart::Attention);
  EXPECT_EQ(issue(Operation::Attention), in_graph);
  EXPECT_EQ(issue(Operation::Mlp), mlp);
  plan.graph_scope = GraphScope().with(GraphPart::Mlp);
  EXPECT_EQ(issue(Operation::Attention), attention);
  EXPECT_LT(issue(Operation::Mlp), mlp);
}

TEST(ModelledKernels, AProductIsThatOfTheClock) {
  ParallelPlan plan = a100_plan();
  plan.cluster.software.autocast = false;
  const Device device(plan.cluster.hardware);
  const KernelSetting setting = setting_of(plan);
  const KernelClock clock(device, plan.cluster.software, setting);
  EXPECT_EQ(device_time(plan, {Kernel::LinearForward, {4096, 8192, 2048}}), clock.product({4096, 8192, 2048}).device);
  EXPECT_EQ(device_time(plan, {Kernel::LinearInputGradient, {4096, 8192, 2048}}), clock.product({4096, 2048, 8192}).device);
}

// 4 bytes become 2 in front of a product, and 2 become 4 behind its weight gradient; the input's gradient reads what was cast.
TEST(ModelledKernels, AutocastCastsWeightsThatAreMasters) {
  ParallelPlan plan = a100_plan(), cast = plan;
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
  ParallelPlan plan = a100_plan();
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
    ParallelPlan plan = a100_plan(software);
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
  ParallelPlan plan = a100_plan("megatron-core-2025");
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
  ParallelPlan plan = a100_plan();
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
  ParallelPlan plan = a100_plan();
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
  ParallelPlan plan = a100_plan();
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

TEST(ModelledKernels, ModulesOfAdaptersTakeTheHost) {
  ParallelPlan plan = a100_plan();
  plan.cluster.software.host_per_adapter = Seconds(1);
  const TaskKernels three{.calls = {{.kernel = Kernel::LinearForward, .shape = {64, 48, 64}, .adapted = 3}}};
  EXPECT_NEAR(ModelledKernels(plan).issue(three, {}).count(), 3, 1e-9);
}

TEST(ModelledKernels, GatheredTokensAreCountedBehindTheirGather) {
  ParallelPlan plan = a100_plan();
  plan.model.experts = ExpertForm{.experts = 8, .topk = 2, .expert_ffn = 64};
  plan.mesh = {.data = 2, .expert = 2};
  const TaskKernels router{.calls = {{.kernel = Kernel::Routing, .shape = {64, 8}}}};
  const TaskKey arrives{.phase = Phase::Forward, .operation = Operation::AllGather, .group = MeshAxis::Expert};
  const auto waits_for = [&](const auto& what) { return ModelledKernels(plan).drains(what); };
  EXPECT_TRUE(waits_for(router)) << "counts of what a rank sends";
  EXPECT_FALSE(waits_for(arrives));
  plan.token_dispatcher = TokenDispatcher::AllGather;
  EXPECT_FALSE(waits_for(router));
  EXPECT_TRUE(waits_for(arrives));
  const auto other = [&](auto change) {
    TaskKey key = arrives;
    change(key);
    return waits_for(key);
  };
  EXPECT_TRUE(other([](TaskKey& key) { key.group = MeshAxis::ExpertTensor; }));
  EXPECT_FALSE(other([](TaskKey& key) { key.phase = Phase::Backward; })) << "gradients of sums: nothing is counted";
  EXPECT_FALSE(other([](TaskKey& key) { key.operation = Operation::ReduceScatter; }));
  EXPECT_FALSE(other([](TaskKey& key) { key.group = MeshAxis::Data; }));
  plan.model.experts->dispatch = ExpertDispatch::Drop;
  EXPECT_FALSE(waits_for(arrives)) << "a capacity needs no counts";
}

TEST(ModelledKernels, RowsAreCountedBehindTheirExchangeInLargeDomains) {
  ParallelPlan plan = a100_plan();
  plan.model.experts = ExpertForm{.experts = 8, .topk = 2, .expert_ffn = 64};
  plan.mesh = {.data = 2, .expert = 2};
  plan.token_dispatcher = TokenDispatcher::Hierarchical;
  TaskKey dispatch{.phase = Phase::Forward, .operation = Operation::AllToAll, .group = MeshAxis::Expert};
  const auto waits = [&] { return ModelledKernels(plan).drains(dispatch); };
  EXPECT_FALSE(waits()) << "DeepEP counts in front of it";
  plan.cluster.hardware.devices_per_node = 72;
  EXPECT_TRUE(waits());
  plan.token_dispatcher = TokenDispatcher::AllToAll;
  EXPECT_FALSE(waits());
  plan.token_dispatcher = TokenDispatcher::Hierarchical;
  dispatch.sequence = 1;
  EXPECT_FALSE(waits()) << "the way back";
  dispatch = {.phase = Phase::Backward, .operation = Operation::AllToAll, .group = MeshAxis::Expert};
  EXPECT_FALSE(waits()) << "the forward's counts";
  dispatch.phase = Phase::Forward;
  plan.cuda_graphs = CudaGraphs::FullIteration;
  EXPECT_FALSE(waits()) << "a graph has no host that reads";
}

// limit_all_gathers of FSDP 1.
TEST(ModelledKernels, TheHostRunsNoBlockAheadWhereAdaptersAreUnits) {
  ParallelPlan plan = a100_plan();
  plan.cluster.software.host_per_unit = Seconds(1e-3);
  plan.cluster.software.unfused_adapters = true;
  const TaskKernels one{.calls = {{.kernel = Kernel::LinearForward, .shape = {64, 48, 64}}}};
  const auto waits = [&] { return ModelledKernels(plan).drains(one); };
  plan.mesh = {.data = 2};
  plan.zero_stage = 3;
  EXPECT_FALSE(waits()) << "blocks are its units: two of them are enough";
  plan.model.adapters = Adapters{}.on(AdapterTarget::Query);
  EXPECT_TRUE(waits());
  plan.zero_stage = 0;
  EXPECT_FALSE(waits()) << "nothing is gathered";
  plan.zero_stage = 3;
  plan.cluster.software.unfused_adapters = false;
  EXPECT_FALSE(waits());
}

TEST(ModelledKernels, BlocksAndMatricesOfAdaptersAreUnitsWhereUnitsAreGathered) {
  ParallelPlan plan = a100_plan();
  plan.cluster.software.host_per_unit = Seconds(1);
  plan.cluster.software.host_per_adapter = Seconds(0);
  const TaskKernels three{.calls = {{.kernel = Kernel::LinearForward, .shape = {64, 48, 64}, .adapted = 3}}};
  const TaskKernels block{.calls = {{.kernel = Kernel::AttentionForward, .shape = {1, 1, 64, 64}}}};
  const auto issue = [&](const TaskKernels& kernels) { return ModelledKernels(plan).issue(kernels, {}).count(); };
  plan.mesh = {.data = 2};
  EXPECT_EQ(issue(three), 0) << "nothing is gathered";
  plan.zero_stage = 3;
  plan.cluster.software.unfused_adapters = false;
  EXPECT_EQ(issue(three), 0) << "fused adapters are left out of FSDP";
  plan.cluster.software.unfused_adapters = true;
  EXPECT_NEAR(issue(three), 6, 1e-9);
  EXPECT_NEAR(issue(block), 1 + plan.cluster.software.host_per_module.count(), 1e-9);
  plan.mesh = {.data = 1};
  EXPECT_EQ(issue(three), 0) << "of one rank";
  EXPECT_NEAR(issue(block), 1 + plan.cluster.software.host_per_module.count(), 1e-9) << "hooks of a block run there, too";
}

// Hooks of DeepSpeed's stage 3 fetch and release each module of a block, in either pass.
TEST(ModelledKernels, HooksOfDeepSpeedsStageThreeTakeTheHost) {
  ParallelPlan plan = a100_plan("deepspeed");
  plan.mesh = {.data = 2};
  const TaskKernels forward{.calls = {{.kernel = Kernel::AttentionForward, .shape = {1, 1, 64, 64}}}};
  const TaskKernels backward{.calls = {{.kernel = Kernel::AttentionBackward, .shape = {1, 1, 64, 64}}}};
  for (const TaskKernels& block : {forward, backward}) {
    const auto issue = [&](std::int32_t stage) {
      plan.zero_stage = stage;
      return ModelledKernels(plan).issue(block, {}).count();
    };
    EXPECT_EQ(issue(2), issue(0));
    EXPECT_NEAR(issue(3) - issue(0), 3.3e-3, 1e-9);
  }
}

// torch.distributed.tensor wraps and unwraps what modules of a tensor rank read; a compiled block has traced it away.
TEST(ModelledKernels, DTensorTakesTheHostOfEagerTensorRanks) {
  ParallelPlan plan = a100_plan("torchtitan");
  const TaskKernels attention{.calls = {{.kernel = Kernel::AttentionForward, .shape = {1, 1, 64, 64}}}};
  const auto issue = [&](std::int32_t tensor) {
    plan.mesh = {.data = 8 / tensor, .tensor = tensor};
    return ModelledKernels(plan).issue(attention, {}).count();
  };
  EXPECT_NEAR(issue(2) - issue(1), 1.3e-3, 1e-9);
  EXPECT_EQ(issue(8), issue(2)) << "however many ranks";
  plan.cluster.software.compiled = true;
  EXPECT_EQ(issue(8), issue(1));
}

TEST(ModelledKernels, TensorGroupsOverNodesMakeModulesWait) {
  ParallelPlan plan = a100_plan();
  plan.cluster.software.host_per_tensor_node = Seconds(1);
  const TaskKernels attention{.calls = {{.kernel = Kernel::AttentionForward, .shape = {1, 1, 64, 64}}}};
  const auto wait = [&] { return ModelledKernels(plan).waits(attention).count(); };
  const auto issue = [&] { return ModelledKernels(plan).issue(attention, {}).count() - plan.cluster.software.host_per_module.count(); };
  plan.cluster.devices = 32;
  for (const auto& [tensor, expected] : {std::pair(8, 0.0), std::pair(16, 1.0), std::pair(32, 3.0)}) {
    plan.mesh = {.data = 32 / tensor, .tensor = tensor};
    EXPECT_NEAR(wait(), expected, 1e-9) << tensor;
    EXPECT_NEAR(issue(), expected, 1e-9) << "nor does the host go on";
  }
  plan.mesh = {.pipeline = 2, .tensor = 16};
  EXPECT_EQ(wait(), 0) << "stages: the host is what waits";
}

TEST(ModelledKernels, GraphsTakeLessOfTheHost) {
  ParallelPlan plan = a100_plan();
  const Work small{.device = 1e-9, .kernels = 100};
  const Seconds each = ModelledKernels(plan).issue({}, small);
  plan.cuda_graphs = CudaGraphs::PerLayer;
  EXPECT_LT(ModelledKernels(plan).issue({}, small), each);
}

TEST(ModelledKernels, OperandsThatTensorRanksGatherAreCastInParts) {
  ParallelPlan plan = a100_plan();
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
  ParallelPlan plan = a100_plan();
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
  ParallelPlan plan = a100_plan();
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
  ParallelPlan fused = a100_plan(), unfused = a100_plan();
  unfused.cluster.software.attention = "unfused";
  const KernelCall backward{Kernel::AttentionBackward, {4, 16, 1024, 64}}, forward{Kernel::AttentionForward, {4, 16, 1024, 64}};
  const double fused_before = device_time(fused, backward), unfused_before = device_time(unfused, backward);
  fused.recompute = unfused.recompute = Recompute::Selective;
  EXPECT_EQ(device_time(fused, backward), fused_before);
  EXPECT_DOUBLE_EQ(device_time(unfused, backward), unfused_before + device_time(unfused, forward));
}

// Long samples: nothing but products. A mask that is handed over hides nothing from the kernel, and a window neither.
TEST(ModelledKernels, APlanSaysWhichKernelAttends) {
  ParallelPlan plan = a100_plan();
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
  ParallelPlan plan = a100_plan();
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

TEST(ModelledKernels, TheHostIssuesKernelsAndModules) {
  ParallelPlan plan = a100_plan();
  SoftwareStack& software = plan.cluster.software;
  software.host_per_kernel = Seconds(1e-3);
  software.host_per_module = Seconds(0.1);
  software.host_per_experts = Seconds(10);
  software.host_per_tensor_rank = Seconds(1);
  const TaskKernels attention{.calls = {{Kernel::AttentionForward, {1, 8, 1024, 64}}}};
  const TaskKernels experts{.calls = {{Kernel::LinearForward, {64, 64, 64, 4}}, {Kernel::GatedActivationForward, {64, 64}}}};
  const auto issue = [&](const TaskKernels& kernels) { return ModelledKernels(plan).issue(kernels, {1, 3, 2}).count(); };
  EXPECT_DOUBLE_EQ(issue(attention), 3e-3 + 0.1);
  EXPECT_DOUBLE_EQ(issue(experts), 3e-3 + 0.1 + 10);
  const Operator grouped_map;
  TaskKernels map{.calls = {experts.calls.front()}};
  map.calls.front().convolution = &grouped_map;
  EXPECT_DOUBLE_EQ(issue(map), 3e-3) << "groups of a convolution are no experts";
  const double captured = common_behavior().graph_launch_share;
  plan.cuda_graphs = CudaGraphs::PerLayer;
  EXPECT_DOUBLE_EQ(issue(experts), captured * (1e-3 + 0.1) + 2e-3 + 10) << "what the counts of tokens decide is not captured";
  plan.cuda_graphs = CudaGraphs::FullIteration;
  EXPECT_DOUBLE_EQ(issue(experts), captured * (3e-3 + 0.1 + 10));
  plan.cuda_graphs = CudaGraphs::None;
  plan.mesh = {.pipeline = 8, .tensor = 4};
  EXPECT_DOUBLE_EQ(issue(attention), 3e-3 + 0.1 + 4) << "stages on several nodes";
}

TEST(ModelledKernels, AWeightsGradientCastsNothingOfItsExperts) {
  ParallelPlan half = a100_plan();
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

TEST(ModelledKernels, ModulesThatAreRecomputedRunTheirOwnCodeAgain) {
  ParallelPlan plan = a100_plan();
  plan.cluster.software.host_per_module = Seconds(1);
  const KernelCall norm{Kernel::NormForward, {64, 64}};
  KernelCall again = norm;
  again.reruns_module = true;
  EXPECT_EQ(ModelledKernels(plan).issue({.calls = {norm, norm}}, {}).count(), 0);
  EXPECT_EQ(ModelledKernels(plan).issue({.calls = {norm, again}}, {}).count(), 1);
}

TEST(ModelledKernels, TheStepsOverheadIsPaidOnce) {
  ParallelPlan plan = a100_plan();
  const Seconds before = ModelledKernels(plan).flat(Operation::NormPart, {1000});
  plan.cluster.software.step_overhead += Seconds(0.5);
  EXPECT_DOUBLE_EQ((ModelledKernels(plan).flat(Operation::NormPart, {1000}) - before).count(), 0.5);
  EXPECT_GT(ModelledKernels(plan).flat(Operation::Update, {1'000'000'000}),
            ModelledKernels(plan).flat(Operation::Accumulate, {1'000'000'000}));
}

TEST(ModelledKernels, BroadcastsOfNewWeightsAreStartedOneByOne) {
  ParallelPlan plan = a100_plan();
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
