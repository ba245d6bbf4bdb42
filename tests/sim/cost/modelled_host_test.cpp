#include <gtest/gtest.h>

#include "sim/cost/modelled_kernels.h"
#include "sim/cost/task_prices.h"
#include "sim/task_graph/layer_tasks.h"
#include "tests/sim/cost/a100_plan.h"
#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

TEST(ModelledHost, GraphsOfPartsOfBlocksLeaveTheOthersHost) {
  ParallelPlan plan = testing::a100_plan("megatron-core-2025");
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

TEST(ModelledHost, ModulesOfAdaptersTakeTheHost) {
  ParallelPlan plan = testing::a100_plan("plain");
  plan.cluster.software.host_per_adapter = Seconds(1);
  const TaskKernels three{.calls = {{.kernel = Kernel::LinearForward, .shape = {64, 48, 64}, .adapted = 3}}};
  EXPECT_NEAR(ModelledKernels(plan).issue(three, {}).count(), 3, 1e-9);
}

TEST(ModelledHost, GatheredTokensAreCountedBehindTheirGather) {
  ParallelPlan plan = testing::a100_plan("plain");
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

TEST(ModelledHost, RowsAreCountedBehindTheirExchangeInLargeDomains) {
  ParallelPlan plan = testing::a100_plan("plain");
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
TEST(ModelledHost, TheHostRunsNoBlockAheadWhereAdaptersAreUnits) {
  ParallelPlan plan = testing::a100_plan("plain");
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

TEST(ModelledHost, BlocksAndMatricesOfAdaptersAreUnitsWhereUnitsAreGathered) {
  ParallelPlan plan = testing::a100_plan("plain");
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
TEST(ModelledHost, HooksOfDeepSpeedsStageThreeTakeTheHost) {
  ParallelPlan plan = testing::a100_plan("deepspeed");
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
TEST(ModelledHost, DTensorTakesTheHostOfEagerTensorRanks) {
  ParallelPlan plan = testing::a100_plan("torchtitan");
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

TEST(ModelledHost, TensorGroupsOverNodesMakeModulesWait) {
  ParallelPlan plan = testing::a100_plan("plain");
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

TEST(ModelledHost, GraphsTakeLessOfTheHost) {
  ParallelPlan plan = testing::a100_plan("plain");
  const Work small{.device = 1e-9, .kernels = 100};
  const Seconds each = ModelledKernels(plan).issue({}, small);
  plan.cuda_graphs = CudaGraphs::PerLayer;
  EXPECT_LT(ModelledKernels(plan).issue({}, small), each);
}

TEST(ModelledHost, TheHostIssuesKernelsAndModules) {
  ParallelPlan plan = testing::a100_plan("plain");
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

TEST(ModelledHost, ModulesThatAreRecomputedRunTheirOwnCodeAgain) {
  ParallelPlan plan = testing::a100_plan("plain");
  plan.cluster.software.host_per_module = Seconds(1);
  const KernelCall norm{Kernel::NormForward, {64, 64}};
  KernelCall again = norm;
  again.reruns_module = true;
  EXPECT_EQ(ModelledKernels(plan).issue({.calls = {norm, norm}}, {}).count(), 0);
  EXPECT_EQ(ModelledKernels(plan).issue({.calls = {norm, again}}, {}).count(), 1);
}

}  // namespace
}  // namespace sim
