#include "sim/engine/disturbance.h"

#include <gmock/gmock.h>

#include "sim/check/checkers.h"
#include "sim/engine/simulate.h"
#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr DeviceKind kBothKinds[] = {DeviceKind::Cpu, DeviceKind::Gpu};

SimulationResult disturbed(const ParallelPlan& plan, const Disturbances& disturbances, const Fold& fold) {
  const ModelGraph model = make_model_graph(plan);
  return simulate(model, plan, lower(model, plan, fold), Detail::Timeline, disturbances);
}

// Each rank by itself, and the device that stands for it.
void expect_equal(const SimulationResult& folded, const SimulationResult& unfolded, const ParallelPlan& plan, const Fold& fold) {
  EXPECT_EQ(folded.step_time, unfolded.step_time);
  EXPECT_EQ(folded.peak_memory, unfolded.peak_memory);
  for (const DeviceResult& device : unfolded.devices) {
    const DeviceResult& one = folded.devices[device_of(fold, plan.mesh, device.representative).position()];
    EXPECT_EQ(device.busy, one.busy) << "rank " << device.representative.value();
    EXPECT_EQ(device.communication, one.communication) << "rank " << device.representative.value();
    EXPECT_EQ(device.exposed_communication, one.exposed_communication) << "rank " << device.representative.value();
    EXPECT_EQ(device.peak_memory, one.peak_memory) << "rank " << device.representative.value();
  }
}

void expect_exact(const ParallelPlan& plan, const Disturbances& disturbances) {
  SCOPED_TRACE(testing::describe(plan) + ": " + to_text(disturbances, plan).front());
  const Fold fold = fold_of(disturbances, plan);
  expect_equal(disturbed(plan, disturbances, fold), disturbed(plan, disturbances, Fold::None), plan, fold);
}

TEST(Disturbance, ASlowRankAnywhereIsExactAlthoughFolded) {
  for (const DeviceKind kind : kBothKinds) {
    testing::PlanGenerator generator(23);
    for (int i = 0; i < 25; ++i) {
      const ParallelPlan plan = generator.next(kind);
      for (Rank rank(0); rank.value() < plan.mesh.ranks(); rank = Rank(rank.value() * 2 + 1))
        expect_exact(plan, {.ranks = {{rank, 1.7}}, .links = {}});
    }
  }
}

TEST(Disturbance, ASlowLinkAnywhereIsExactAlthoughFolded) {
  testing::PlanGenerator generator(29);
  for (int i = 0; i < 25; ++i) {
    const ParallelPlan plan = generator.next(DeviceKind::Gpu);
    for (LinkId link(0); link.value() < plan.cluster.devices + plan.cluster.nodes(); link = LinkId(link.value() * 2 + 1))
      expect_exact(plan, {.ranks = {}, .links = {{link, 0.4}}});
  }
}

TEST(Disturbance, UnfoldsOnlyWhatItMust) {
  ParallelPlan plan = testing::tiny_plan({.data = 8, .pipeline = 2, .tensor = 2});
  plan.cluster.hardware = testing::small_gpu();  // nodes of 4: two replicas share one
  EXPECT_EQ(fold_of({}, plan), Fold::Symmetric);
  const Fold fold = fold_of({.ranks = {{Rank(5), 2.0}}, .links = {}}, plan);
  EXPECT_THAT(fold.data.apart, ElementsAre(2, 3));
  EXPECT_THAT(fold.tensor.apart, ElementsAre(1));
  const Fold uplink = fold_of({.ranks = {}, .links = {{LinkId(32 + 1), 0.5}}}, plan);
  EXPECT_THAT(uplink.data.apart, ElementsAre(2, 3));
  EXPECT_THAT(uplink.tensor.apart, IsEmpty());
}

TEST(Disturbance, SlowsTheStepAndIsNamed) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 2, .tensor = 2});
  plan.cluster.hardware = testing::small_gpu();
  const SimTime undisturbed = simulate(make_model_graph(plan), plan).step_time;
  const Disturbances slow_rank{.ranks = {{Rank(5), 3.0}}, .links = {}}, slow_link{.ranks = {}, .links = {{LinkId(8), 0.25}}};
  EXPECT_GT(disturbed(plan, slow_rank, fold_of(slow_rank, plan)).step_time, undisturbed);
  EXPECT_GT(disturbed(plan, slow_link, fold_of(slow_link, plan)).step_time, undisturbed);
  EXPECT_THAT(to_text(slow_rank, plan), ElementsAre("rank 5 computes 3 times as long (stage 1, node 1)"));
  EXPECT_THAT(to_text(slow_link, plan), ElementsAre("uplink 0 carries 25.0 % of its bandwidth"));
}

TEST(Disturbance, ChangesNothingAtFactorOne) {
  ParallelPlan plan = testing::tiny_plan({.data = 4, .pipeline = 1, .tensor = 2});
  const Disturbances nothing{.ranks = {{Rank(3), 1.0}}, .links = {{LinkId(2), 1.0}}};
  EXPECT_EQ(disturbed(plan, nothing, fold_of(nothing, plan)).step_time, simulate(make_model_graph(plan), plan).step_time);
}

TEST(Disturbance, ItsGraphAndTimelineKeepTheRules) {
  testing::PlanGenerator generator(31);
  for (int i = 0; i < 20; ++i) {
    const ParallelPlan plan = generator.next(DeviceKind::Gpu);
    const Disturbances slow{.ranks = {{Rank(plan.mesh.ranks() - 1), 1.5}}, .links = {}};
    const ModelGraph model = make_model_graph(plan);
    const TaskGraph graph = lower(model, plan, fold_of(slow, plan));
    EXPECT_THAT(check_graph(model, plan, graph), IsEmpty());
    EXPECT_THAT(check_timeline(graph, simulate(model, plan, graph, Detail::Timeline, slow).timeline), IsEmpty());
  }
}

}  // namespace
}  // namespace sim
