#include "gui/core/cluster_load.h"

#include <gmock/gmock.h>

#include <numeric>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

sim::ParallelPlan onTwoNodes(std::int32_t per_node) {
  sim::ParallelPlan plan = test::examplePlan();
  plan.cluster.hardware.devices_per_node = per_node;
  return plan;
}

TEST(ClusterLoad, IsTheSameFoldedAndRankByRank) {
  for (const std::int32_t per_node : {1, 2, 4}) {
    const ClusterLoad folded = clusterLoad(*simulatePlan(onTwoNodes(per_node)));
    const ClusterLoad by_rank = clusterLoad(*simulatePlan(onTwoNodes(per_node), Ranks::Simulated));
    ASSERT_EQ(folded.port.size(), 4u);
    for (std::size_t rank = 0; rank < 4; ++rank) EXPECT_NEAR(folded.port[rank], by_rank.port[rank], 1e-12);
    ASSERT_EQ(folded.uplink.size(), by_rank.uplink.size());
    for (std::size_t node = 0; node < folded.uplink.size(); ++node)
      EXPECT_NEAR(folded.uplink[node], by_rank.uplink[node], 1e-12) << per_node << " a node, node " << node;
  }
}

TEST(ClusterLoad, UplinksAreIdleOnOneNodeAndNoLinkIsMoreThanFull) {
  const ClusterLoad one = clusterLoad(*test::exampleSimulation());
  EXPECT_EQ(std::accumulate(one.uplink.begin(), one.uplink.end(), 0.0), 0.0);
  const ClusterLoad two = clusterLoad(*simulatePlan(onTwoNodes(2)));
  EXPECT_GT(two.uplink[0], 0.0);
  for (const double load : two.port) EXPECT_LE(load, 1.0);
  for (const double load : two.uplink) EXPECT_LE(load, 1.0);
}

TEST(ClusterLoad, ARankHasADevice) {
  const SharedPlan folded = test::exampleSimulation(), by_rank = test::exampleSimulation(Ranks::Simulated);
  EXPECT_EQ(deviceOf(*folded, sim::Rank(3)), sim::DeviceId(1));
  EXPECT_EQ(deviceOf(*by_rank, sim::Rank(3)), sim::DeviceId(3));
}

}  // namespace
}  // namespace gui
