#include "sim/engine/rank_models.h"

#include <gmock/gmock.h>

#include "sim/check/checkers.h"
#include "sim/engine/simulate.h"
#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

// Two nodes of two described GPUs; those of the second multiply `factor` times as fast.
ParallelPlan plan_of_groups(DeviceMesh mesh, std::vector<std::int64_t> shares, double factor) {
  ParallelPlan plan = testing::tiny_plan(mesh);
  plan.cluster.hardware = testing::small_gpu();
  plan.cluster.hardware.devices_per_node = 2;
  plan.cluster = testing::described(plan.cluster, true);
  plan.microbatch_size = 2, plan.workload.global_batch = 8 * mesh.data;
  for (const std::int64_t share : shares) plan.cluster.groups.push_back({plan.cluster.hardware, 2, share});
  for (FlopsPerSecond& peak : plan.cluster.groups.back().hardware.peak) peak = peak * factor;
  HardwareProfile& fast = plan.cluster.groups.back().hardware;
  fast.memory_bandwidth = fast.memory_bandwidth * factor;
  return plan;
}

SimulationResult stepped(const ParallelPlan& plan, const Fold& fold = Fold::Symmetric) {
  return simulate(make_model_graph(plan), plan, Detail::Timeline, fold);
}

ParallelPlan without_groups(ParallelPlan plan) {
  plan.cluster.groups.clear();
  return plan;
}

TEST(RankModels, GroupsThatAreAlikeAreOneCluster) {
  for (const DeviceMesh& mesh : {DeviceMesh{.data = 4}, DeviceMesh{.data = 2, .pipeline = 2}, DeviceMesh{.data = 2, .tensor = 2}}) {
    const ParallelPlan plan = plan_of_groups(mesh, {1, 1}, 1);
    ASSERT_TRUE(violations(plan).empty()) << located(violations(plan).front());
    const SimulationResult together = stepped(plan), alone = stepped(without_groups(plan));
    EXPECT_EQ(together.step_time, alone.step_time);
    EXPECT_EQ(together.peak_memory, alone.peak_memory);
  }
}

TEST(RankModels, FoldedEqualsUnfolded) {
  for (const DeviceMesh& mesh : {DeviceMesh{.data = 4}, DeviceMesh{.data = 2, .tensor = 2}, DeviceMesh{.data = 2, .pipeline = 2}}) {
    const ParallelPlan plan =
        plan_of_groups(mesh, mesh.pipeline > 1 ? std::vector<std::int64_t>{1, 1} : std::vector<std::int64_t>{1, 3}, 3);
    ASSERT_TRUE(violations(plan).empty()) << located(violations(plan).front());
    const SimulationResult folded = stepped(plan), whole = stepped(plan, Fold::None);
    EXPECT_EQ(folded.step_time, whole.step_time);
    EXPECT_EQ(folded.peak_memory, whole.peak_memory);
    EXPECT_LT(folded.devices.size(), whole.devices.size());
  }
}

// Equal parts wait for the slow ones; parts as fast as the devices do not.
TEST(RankModels, SharesAsTheDevicesAreFasterThanEqualParts) {
  const SimulationResult equal = stepped(plan_of_groups({.data = 4}, {1, 1}, 3)), dealt = stepped(plan_of_groups({.data = 4}, {1, 3}, 3)),
                         wrong = stepped(plan_of_groups({.data = 4}, {3, 1}, 3));
  EXPECT_LT(dealt.step_time, equal.step_time);
  EXPECT_LT(equal.step_time, wrong.step_time);
  EXPECT_EQ(equal.step_time, stepped(without_groups(plan_of_groups({.data = 4}, {1, 1}, 3))).step_time) << "the slowest decides";
  EXPECT_GT(dealt.peak_memory, equal.peak_memory) << "three samples are kept where there were two";
}

// A rank's compute is that of the plan in which all have its device and its part.
TEST(RankModels, EachDoesWhatItsGroupDoes) {
  const ParallelPlan plan = plan_of_groups({.data = 4}, {1, 3}, 3);
  const SimulationResult both = stepped(plan, Fold::None);
  for (std::size_t at = 0; at < plan.cluster.groups.size(); ++at) {
    ParallelPlan alone = without_groups(plan);
    alone.cluster.hardware = plan.cluster.groups[at].hardware;
    alone.microbatch_size = at == 0 ? 1 : 3, alone.workload.global_batch = 16 * alone.microbatch_size;
    EXPECT_EQ(both.devices[2 * at].busy, stepped(alone, Fold::None).devices[0].busy);
  }
}

TEST(RankModels, TheCheckersAgree) {
  const ParallelPlan plan = plan_of_groups({.data = 4}, {1, 3}, 3);
  const ModelGraph model = make_model_graph(plan);
  const TaskGraph graph = lower(model, plan, fold_of({}, plan));
  EXPECT_TRUE(check_graph(model, plan, graph).empty());
  EXPECT_TRUE(check_timeline(graph, simulate(model, plan, graph, Detail::Timeline).timeline).empty());
}

// The smaller memory of one group is its own.
TEST(RankModels, EachFitsByItself) {
  ParallelPlan plan = plan_of_groups({.data = 4}, {1, 3}, 3);
  const SimulationResult both = stepped(plan);
  const auto peak = [&](std::int32_t rank) {
    return std::ranges::find(both.devices, Rank(rank), &DeviceResult::representative)->peak_memory;
  };
  ASSERT_LT(peak(0), peak(2));
  const auto with_room_for = [&](Bytes tensors) {
    Cluster roomy = plan.cluster;
    for (roomy.hardware.memory = tensors; usable_memory(roomy) < tensors;) roomy.hardware.memory += tensors - usable_memory(roomy);
    return roomy.hardware.memory;
  };
  plan.cluster.groups[0].hardware.memory = with_room_for(peak(0)), plan.cluster.groups[1].hardware.memory = with_room_for(peak(2));
  EXPECT_TRUE(stepped(plan).fits);
  plan.cluster.groups[1].hardware.memory = with_room_for(peak(0));
  EXPECT_FALSE(stepped(plan).fits);
}

}  // namespace
}  // namespace sim
