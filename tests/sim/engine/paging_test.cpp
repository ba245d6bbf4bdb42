#include "sim/engine/paging.h"

#include <gtest/gtest.h>

#include "sim/check/checkers.h"
#include "sim/cost/managed_memory.h"
#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

ParallelPlan paged_plan() {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.cluster.hardware = testing::small_gpu();
  plan.cluster.hardware.memory = Bytes(std::int64_t{1} << 40);
  plan.paged_optimizer = true;
  return plan;
}

SimulationResult paged_step(const ParallelPlan& plan) { return simulate(make_model_graph(plan), plan, Detail::Timeline); }

// The least memory of a device that leaves the plan so much beside its own peak.
ParallelPlan with_room(ParallelPlan plan, Bytes beside) {
  const Bytes peak = paged_step(plan).peak_memory;
  const double share = static_cast<double>(usable_memory(plan.cluster).value()) / static_cast<double>(plan.cluster.hardware.memory.value());
  plan.cluster.hardware.memory = Bytes(static_cast<std::int64_t>(static_cast<double>((peak + beside).value()) / share) + 1);
  return plan;
}

Bytes managed(const ParallelPlan& plan) {
  Bytes all{};
  const TaskGraph graph = lower(make_model_graph(plan), plan);
  for (const Bucket& bucket : graph.buckets()[0]) all += managed_bytes(plan, bucket);
  return all;
}

TEST(Paging, CostsNothingWhereAllMomentsHaveRoom) {
  const ParallelPlan paged = with_room(paged_plan(), managed(paged_plan()));
  ParallelPlan kept = paged;
  kept.paged_optimizer = false;
  EXPECT_EQ(paged_step(paged).step_time, paged_step(kept).step_time);
  EXPECT_EQ(paged_step(paged).host_memory, Bytes{});
  EXPECT_EQ(paged_step(kept).peak_memory - paged_step(paged).peak_memory, managed(paged));
}

// Less room by a byte, and all of them come in: each update by its own. What is out lies on the host, and the plan fits all the same.
TEST(Paging, BringsAllMomentsInWhereSomeHaveNoRoom) {
  const ParallelPlan plan = paged_plan(), wide = with_room(plan, managed(plan)), tight = with_room(plan, managed(plan) / 2);
  const SimulationResult roomy = paged_step(wide), paging = paged_step(tight);
  SimTime in{};
  const TaskGraph graph = lower(make_model_graph(plan), plan);
  for (const Bucket& bucket : graph.buckets()[0]) in += to_sim_time(paging_time(plan, bucket));
  EXPECT_EQ(paging.step_time, roomy.step_time + in);
  EXPECT_TRUE(paging.fits);
  EXPECT_EQ(paging.peak_memory, roomy.peak_memory);
  EXPECT_GT(paging.devices[0].host_memory, managed(plan) / 3);
  EXPECT_LE(paging.devices[0].host_memory, managed(plan) / 2);
  EXPECT_TRUE(check_timeline(graph, paging.timeline).empty());
}

}  // namespace
}  // namespace sim
