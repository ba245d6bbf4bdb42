#include "sim/cost/cost_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sim/clock/kernel_setting.h"
#include "tests/sim/cost/find_task.h"
#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

double share_on(const TaskCost& cost, LinkId link) {
  for (std::size_t at = 0; at < cost.num_uses; ++at)
    if (cost.uses[at].link == link) return cost.uses[at].share;
  return 0.0;
}

TEST(CostModel, EqualTasksAreOneEntry) {
  const ParallelPlan plan = testing::tiny_plan();
  const ModelGraph model = make_model_graph(plan);
  const TaskGraph graph = lower(model, plan);
  const CostModel costs(model, plan);
  const TaskCost* first = nullptr;
  for (const Task& task : graph.tasks()) {
    if (task.key.phase != Phase::Forward || task.key.operation != Operation::Mlp) continue;
    if (first == nullptr) first = &costs.cost(task, graph);
    EXPECT_EQ(&costs.cost(task, graph), first);
  }
  EXPECT_GT(first->duration, SimTime(0));
}

// Two tensor groups of a data axis of eight on nodes of four: the ring edges of both enter the node over one uplink.
TEST(CostModel, AFoldedDeviceLoadsItsUplinkForAllRanksOfItsNode) {
  ParallelPlan plan = testing::tiny_plan({.data = 8, .pipeline = 1, .tensor = 2});
  plan.cluster.hardware = testing::small_gpu();
  plan.cluster.hardware.inter_node.latency = plan.cluster.hardware.intra_node.latency = Seconds(0);
  const ModelGraph model = make_model_graph(plan);
  const CostModel costs(model, plan);
  const TaskGraph folded = lower(model, plan), unfolded = lower(model, plan, Fold::None);
  const LinkId uplink(16);  // after sixteen ports
  const TaskCost& one = costs.cost(testing::find(folded, Phase::Gradients, Operation::AllReduce, MeshAxis::Data), folded);
  EXPECT_NEAR(share_on(one, uplink), 2.0, 1e-5);  // each group alone fills it
  const CostModel other(model, plan);
  const TaskCost& rank = other.cost(testing::find(unfolded, Phase::Gradients, Operation::AllReduce, MeshAxis::Data), unfolded);
  EXPECT_EQ(share_on(rank, uplink) * 4, share_on(one, uplink));  // exactly: four ranks of the node
  EXPECT_EQ(rank.duration, one.duration);
  EXPECT_EQ(share_on(costs.cost(testing::find(folded, Phase::Forward, Operation::AllReduce, MeshAxis::Tensor), folded), uplink), 0.0);
}

TEST(CostModel, RanksOnTooFewCoresLoadThem) {
  const ParallelPlan plan = testing::tiny_plan({.data = 4, .pipeline = 1, .tensor = 1});
  const ModelGraph model = make_model_graph(plan);
  const TaskGraph graph = lower(model, plan);
  const CostModel costs(model, plan);
  const LinkId cores(5);  // after four ports and an uplink
  EXPECT_EQ(share_on(costs.cost(testing::find(graph, Phase::Forward, Operation::Mlp), graph), cores),
            2.0);  // four ranks, half a core's time each
}

TEST(CostModel, FlatTasksGoByWhatTheRankOwns) {
  ParallelPlan plan = testing::tiny_plan({.data = 4, .pipeline = 1, .tensor = 1});
  plan.cluster.hardware.kernel_overhead = Seconds(0);
  const auto duration = [&](std::int32_t zero_stage, Phase phase, Operation operation) {
    plan.zero_stage = zero_stage;
    const ModelGraph model = make_model_graph(plan);
    const TaskGraph graph = lower(model, plan);
    return CostModel(model, plan).cost(testing::find(graph, phase, operation), graph).duration;
  };
  EXPECT_EQ(duration(0, Phase::Step, Operation::Update), 4 * duration(1, Phase::Step, Operation::Update));
  EXPECT_EQ(duration(0, Phase::Step, Operation::NormPart), duration(1, Phase::Step, Operation::NormPart));  // its shard in every strategy
}

// Gradients are read for the norm in the type that each unit has.
TEST(CostModel, TheNormReadsUnitsInFullPrecisionByTheirWidth) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model.tied_embeddings = false;
  plan.cluster.hardware.kernel_overhead = Seconds(0);
  const auto duration = [&](const PrecisionPolicy& precision) {
    plan.workload.precision = precision;
    const ModelGraph model = make_model_graph(plan);
    const TaskGraph graph = lower(model, plan);
    return real(CostModel(model, plan).cost(testing::find(graph, Phase::Step, Operation::NormPart), graph).duration.count());
  };
  const auto share_of = [&](LayerIndex layer) {
    const ModelGraph model = make_model_graph(plan);
    std::int64_t elements = 0;
    for (const Parameter& parameter : model.layer(layer).parameters) elements += parameter.elements();
    return real(elements) / real(num_parameters(model));
  };
  const PrecisionPolicy half(Precision::Bf16), head = half.with_full(EndUnit::Head);
  const double without = duration(half);
  EXPECT_NEAR(duration(head) / without, 1 + share_of(make_model_graph(plan).head()), 0.01);
  EXPECT_NEAR(duration(head.with_full(EndUnit::Embedding)) / duration(head),
              1 + share_of(LayerIndex(0)) / (1 + share_of(make_model_graph(plan).head())), 0.01);
  EXPECT_EQ(duration(head.with(Numbers::Gradients, Precision::Fp32)), duration(half.with(Numbers::Gradients, Precision::Fp32)));
}

// Half of the host's time for a tensor in front of the norm, which it reads, half behind it; a rank steps its share of them, and whole ones of its experts.
TEST(CostModel, TheHostStepsTensorByTensor) {
  ParallelPlan plan = testing::tiny_plan({.data = 4, .pipeline = 1, .tensor = 1});
  plan.cluster.hardware = testing::small_gpu();
  plan.cluster.hardware.kernels = KernelTraits{};
  plan.bucket_size = Bytes(std::int64_t{1} << 40);
  const auto cost = [&](std::int32_t zero_stage, Operation operation) {
    plan.zero_stage = zero_stage;
    const ModelGraph model = make_model_graph(plan);
    const TaskGraph graph = lower(model, plan);
    return CostModel(model, plan).cost(testing::find(graph, Phase::Step, operation), graph);
  };
  EXPECT_EQ(cost(0, Operation::Update).issue, SimTime(0));
  EXPECT_FALSE(cost(0, Operation::NormPart).drains);
  plan.cluster.software.host_per_tensor = Seconds(2);
  double tensors = 0;
  const ModelGraph model = make_model_graph(plan);
  for (const Layer& layer : model.layers) tensors += real(std::ssize(layer.parameters));
  EXPECT_NEAR(to_seconds(cost(0, Operation::Update).issue).count(), tensors, 1e-6);
  EXPECT_EQ(cost(0, Operation::NormPart).issue, cost(0, Operation::Update).issue);
  EXPECT_TRUE(cost(0, Operation::NormPart).drains);
  EXPECT_NEAR(to_seconds(cost(1, Operation::Update).issue).count(), std::ceil(tensors / 4), 1e-6);
}

TEST(CostModel, ReshardingIsFree) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 1, .tensor = 1});
  plan.zero_stage = 3;
  const ModelGraph model = make_model_graph(plan);
  const TaskGraph graph = lower(model, plan);
  const CostModel costs(model, plan);
  EXPECT_EQ(costs.cost(testing::find(graph, Phase::Forward, Operation::Reshard), graph).duration, SimTime(0));
  EXPECT_GT(costs.cost(testing::find(graph, Phase::Forward, Operation::AllGather, MeshAxis::Data), graph).duration, SimTime(0));
}

}  // namespace
}  // namespace sim
