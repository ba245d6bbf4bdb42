#include "sim/cost/placement.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

ParallelPlan plan_on(DeviceMesh mesh, std::int32_t devices_per_node) {
  ParallelPlan plan = testing::tiny_plan(mesh);
  plan.cluster.hardware.devices_per_node = devices_per_node;
  return plan;
}

constexpr DeviceMesh kMeshes[] = {{1, 1, 1}, {4, 2, 2}, {2, 4, 1},    {3, 2, 2},    {8, 1, 4},
                                  {1, 8, 1}, {5, 1, 3}, {4, 2, 2, 2}, {8, 1, 1, 2}, {8, 2, 2, 1, 1, 1, 4}};

TEST(Placement, GroupsAreThoseOfTheMesh) {
  for (const DeviceMesh& mesh : kMeshes)
    for (const std::int32_t per_node : {1, 2, 4, 8, 64}) {
      const ParallelPlan plan = plan_on(mesh, per_node);
      const Placement placement(plan);
      for (Rank rank{0}; rank.value() < mesh.ranks(); ++rank)
        for (const MeshAxis axis :
             {MeshAxis::Data, MeshAxis::Tensor, MeshAxis::Pipeline, MeshAxis::World, MeshAxis::Replica, MeshAxis::Reshard}) {
          const std::vector<Rank> members = mesh.group(rank, axis);
          const auto near = std::count_if(members.begin(), members.end(),
                                          [&](Rank member) { return plan.cluster.node_of(member) == plan.cluster.node_of(rank); });
          const GroupPlacement group = placement.group(rank, axis);
          EXPECT_EQ(group.ranks, static_cast<std::int32_t>(members.size()));
          EXPECT_EQ(group.on_node, static_cast<std::int32_t>(near)) << kMeshAxisNames[static_cast<std::size_t>(axis)];
        }
    }
}

TEST(Placement, MembersInAPodAreThoseOfItsNodes) {
  for (const DeviceMesh& mesh : kMeshes)
    for (const std::int32_t pod_nodes : {1, 2, 3}) {
      ParallelPlan plan = plan_on(mesh, 2);
      plan.cluster.hardware.inter_node.pods = {{.nodes = pod_nodes}};
      const Placement placement(plan);
      const bool has_pods = 2 * pod_nodes < mesh.ranks();
      const auto pod = [&](Rank rank) { return plan.cluster.node_of(rank).value() / pod_nodes; };
      for (Rank rank{0}; rank.value() < mesh.ranks(); ++rank) {
        for (const MeshAxis axis : {MeshAxis::Data, MeshAxis::Tensor, MeshAxis::Pipeline, MeshAxis::World}) {
          const std::vector<Rank> members = mesh.group(rank, axis);
          const auto near = std::ranges::count_if(members, [&](Rank member) { return pod(member) == pod(rank); });
          EXPECT_EQ(placement.group(rank, axis).in_pods[0], has_pods ? near : 0);
        }
        EXPECT_EQ(placement.pair(Rank(0), rank).spans_pods(), has_pods && pod(Rank(0)) != pod(rank));
      }
    }
}

TEST(Placement, EachLevelOfPodsCountsItsOwn) {
  ParallelPlan plan = plan_on({.data = 16, .pipeline = 1, .tensor = 1}, 1);
  plan.cluster.hardware.inter_node.pods = {{.nodes = 2}, {.nodes = 8}, {.nodes = 16}};
  const Placement placement(plan);
  const OfPods<std::int32_t> of_all{2, 8, 0}, neighbors{2, 2, 0}, near{1, 2, 0}, far{1, 1, 0};  // one pod of sixteen holds all
  EXPECT_EQ(placement.group(Rank(0), MeshAxis::Data).in_pods, of_all);
  EXPECT_EQ(placement.pair(Rank(0), Rank(1)).in_pods, neighbors);
  EXPECT_EQ(placement.pair(Rank(0), Rank(2)).in_pods, near);
  EXPECT_EQ(placement.pair(Rank(0), Rank(8)).in_pods, far);
}

TEST(Placement, TheEmbeddingGroupIsFirstAndLastStage) {
  const ParallelPlan plan = plan_on({2, 4, 1}, 4);
  const Placement placement(plan);
  EXPECT_EQ(placement.group(Rank(0), MeshAxis::Embedding).ranks, 2);
  EXPECT_EQ(placement.group(Rank(0), MeshAxis::Embedding).on_node, 1);
  const ParallelPlan near = plan_on({2, 4, 1}, 8);
  EXPECT_EQ(Placement(near).group(Rank(7), MeshAxis::Embedding).on_node, 2);
}

TEST(Placement, TheEmbeddingGroupEndsWhereTheCopyIs) {
  ParallelPlan plan = testing::plan_with_predictions_apart({.data = 2, .pipeline = 4}, 1);
  plan.cluster.hardware.devices_per_node = 6;  // three stages
  EXPECT_EQ(Placement(plan).group(Rank(1), MeshAxis::Embedding).on_node, 2);
  plan.model.mtp_apart = false;
  plan.cut = even_cut(plan.model.layers, plan.pipeline_shape());
  EXPECT_EQ(Placement(plan).group(Rank(1), MeshAxis::Embedding).on_node, 1);
}

TEST(Placement, LinksAreThoseOfTheTopology) {
  for (const DeviceMesh& mesh : kMeshes)
    for (const std::int32_t per_node : {1, 4, 64}) {
      const ParallelPlan plan = plan_on(mesh, per_node);
      const Placement placement(plan);
      const Topology topology(plan.cluster);
      for (Rank rank{0}; rank.value() < mesh.ranks(); ++rank) {
        EXPECT_EQ(placement.port(rank), topology.port(rank));
        EXPECT_EQ(placement.uplink(rank), topology.uplink(plan.cluster.node_of(rank)));
        EXPECT_EQ(placement.cores(rank), topology.cores(plan.cluster.node_of(rank)));
        EXPECT_EQ(placement.pair(Rank(0), rank).spans_nodes(), topology.route(Rank(0), rank).size() > 2);
      }
      EXPECT_GE(placement.num_links(), static_cast<std::int32_t>(topology.links().size()));
    }
}

TEST(Placement, ADeviceStandsForTheRanksOnItsNode) {
  const ParallelPlan plan = plan_on({4, 2, 2}, 4);
  const Placement placement(plan);
  const GraphDevice first{.representative = Rank(0), .stage = StageIndex(0), .multiplicity = 8};
  EXPECT_EQ(placement.alike_on_node(first, Fold::Symmetric), 4);
  EXPECT_EQ(placement.alike_on_node(first, Fold::None), 1);
  const Fold one_replica{.data = {.all_apart = false, .apart = {1}}, .tensor = {}};
  EXPECT_EQ(placement.alike_on_node(first, one_replica), 2);
  EXPECT_EQ(placement.alike_on_node({.representative = Rank(2), .stage = StageIndex(0), .multiplicity = 2}, one_replica), 2);
  EXPECT_EQ(placement.busy_ranks(), 4);
}

TEST(Placement, TheMostScatteredMemberSpeaksForAll) {
  const ParallelPlan nine = plan_on({9, 1, 1}, 8);  // the last one is alone on its node
  const GraphDevice all{.representative = Rank(0), .stage = StageIndex(0), .multiplicity = 9};
  const Slowest data = Placement(nine).slowest_group(all, Fold::Symmetric, MeshAxis::Data);
  EXPECT_EQ(data.rank, Rank(8));
  EXPECT_EQ(data.group.on_node, 1);
  EXPECT_EQ(data.crossing, 1);

  const ParallelPlan threes = plan_on({4, 1, 3}, 8);  // ranks 6, 7 | 8
  const Slowest tensor = Placement(threes).slowest_group({.representative = Rank(0), .stage = StageIndex(0), .multiplicity = 12},
                                                         Fold::Symmetric, MeshAxis::Tensor);
  EXPECT_EQ(tensor.rank, Rank(8));
  EXPECT_TRUE(tensor.group.spans_nodes());
  EXPECT_EQ(tensor.crossing, 1);

  const ParallelPlan even = plan_on({8, 2, 2}, 8);
  const Slowest first = Placement(even).slowest_group({.representative = Rank(16), .stage = StageIndex(1), .multiplicity = 16},
                                                      Fold::Symmetric, MeshAxis::Data);
  EXPECT_EQ(first.rank, Rank(16));
  EXPECT_EQ(first.crossing, 8);
}

TEST(Placement, APairThatCrossesSpeaksForThoseThatDoNot) {
  const ParallelPlan plan = plan_on({6, 2, 1}, 8);  // 0..5 -> 6..11
  const GraphDevice first{.representative = Rank(0), .stage = StageIndex(0), .multiplicity = 6};
  const Slowest pair = Placement(plan).slowest_pair(first, Fold::Symmetric, Rank(6));
  EXPECT_EQ(pair.rank, Rank(2));
  EXPECT_EQ(pair.crossing, 4);
  EXPECT_FALSE(Placement(plan)
                   .slowest_pair({.representative = Rank(0), .stage = StageIndex(0), .multiplicity = 1}, Fold::None, Rank(6))
                   .group.spans_nodes());
}

}  // namespace
}  // namespace sim
