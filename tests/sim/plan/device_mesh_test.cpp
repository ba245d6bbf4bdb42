#include "sim/plan/device_mesh.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

using ::testing::ElementsAre;

TEST(DeviceMesh, TensorIsFastestThenDataThenPipeline) {
  const DeviceMesh mesh{.data = 2, .pipeline = 2, .tensor = 2};
  EXPECT_EQ(mesh.rank_of({.data = 1, .stage = StageIndex(0), .tensor = 1}), Rank(3));
  EXPECT_EQ(mesh.rank_of({.data = 0, .stage = StageIndex(1), .tensor = 0}), Rank(4));
}

TEST(DeviceMesh, CoordinateIsTheInverseOfRank) {
  const DeviceMesh mesh{.data = 3, .pipeline = 2, .tensor = 4};
  for (Rank rank{0}; rank.value() < mesh.ranks(); ++rank) EXPECT_EQ(mesh.rank_of(mesh.coordinate(rank)), rank);
}

TEST(DeviceMesh, GroupsAreTheRanksThatDifferAlongOneAxis) {
  const DeviceMesh mesh{.data = 2, .pipeline = 3, .tensor = 2};
  EXPECT_THAT(mesh.group(Rank(5), MeshAxis::Tensor), ElementsAre(Rank(4), Rank(5)));
  EXPECT_THAT(mesh.group(Rank(5), MeshAxis::Data), ElementsAre(Rank(5), Rank(7)));
  EXPECT_THAT(mesh.group(Rank(5), MeshAxis::Pipeline), ElementsAre(Rank(1), Rank(5), Rank(9)));
  EXPECT_THAT(mesh.group(Rank(1), MeshAxis::Embedding), ElementsAre(Rank(1), Rank(9)));
  EXPECT_EQ(mesh.group(Rank(5), MeshAxis::World).size(), 12u);
}

TEST(DeviceMesh, ReplicasCutTheDataRanks) {
  const DeviceMesh mesh{.data = 4, .pipeline = 1, .tensor = 2, .replicas = 2};
  EXPECT_EQ(mesh.shards(), 2);
  EXPECT_THAT(mesh.group(Rank(5), MeshAxis::Data), ElementsAre(Rank(5), Rank(7)));
  EXPECT_THAT(mesh.group(Rank(5), MeshAxis::Replica), ElementsAre(Rank(1), Rank(5)));
}

TEST(DeviceMesh, ExpertsAreDealtOutInEachReplica) {
  const DeviceMesh mesh{.data = 8, .pipeline = 1, .tensor = 1, .replicas = 2, .expert = 2};
  EXPECT_EQ(mesh.expert_copies(), 2);
  EXPECT_THAT(mesh.group(Rank(5), MeshAxis::Expert), ElementsAre(Rank(4), Rank(5)));
  EXPECT_THAT(mesh.group(Rank(5), MeshAxis::ExpertData), ElementsAre(Rank(5), Rank(7)));
  EXPECT_THAT(mesh.group(Rank(5), MeshAxis::Replica), ElementsAre(Rank(1), Rank(5)));  // the same experts
}

TEST(DeviceMesh, NeighboursKeepWeightsAfterForward) {
  const DeviceMesh mesh{.data = 8, .pipeline = 1, .tensor = 2, .replicas = 2, .reshard = 2};
  EXPECT_THAT(mesh.group(Rank(5), MeshAxis::Data), ElementsAre(Rank(1), Rank(3), Rank(5), Rank(7)));
  EXPECT_THAT(mesh.group(Rank(5), MeshAxis::Reshard), ElementsAre(Rank(5), Rank(7)));
}

// D = 2, C = 2, P = 2, T = 2: context ranks are the next neighbours after tensor ranks, and hold the same weights as data ranks do.
TEST(DeviceMesh, ContextRanksShareASample) {
  const DeviceMesh mesh{.data = 2, .pipeline = 2, .tensor = 2, .context = 2};
  EXPECT_EQ(mesh.ranks(), 16);
  EXPECT_THAT(mesh.group(Rank(13), MeshAxis::Context), ElementsAre(Rank(13), Rank(15)));
  EXPECT_THAT(mesh.group(Rank(13), MeshAxis::Data), ElementsAre(Rank(9), Rank(11), Rank(13), Rank(15)));
  EXPECT_THAT(mesh.group(Rank(13), MeshAxis::Tensor), ElementsAre(Rank(12), Rank(13)));
  for (Rank rank{0}; rank.value() < mesh.ranks(); ++rank) EXPECT_EQ(mesh.rank_of(mesh.coordinate(rank)), rank);
}

// D = 4, T = 2, P = 2; a stage's eight ranks are 2 copies x 4 ranks of whole experts, or 2 copies x 2 x 2 that share one.
TEST(DeviceMesh, ExpertsMayBeCutByADegreeOfTheirOwn) {
  DeviceMesh mesh{.data = 4, .pipeline = 2, .tensor = 2, .expert = 4, .expert_tensor = 1};
  EXPECT_EQ(mesh.expert_copies(), 2);
  EXPECT_THAT(mesh.group(Rank(14), MeshAxis::Expert), ElementsAre(Rank(12), Rank(13), Rank(14), Rank(15)));
  EXPECT_THAT(mesh.group(Rank(14), MeshAxis::ExpertData), ElementsAre(Rank(10), Rank(14)));
  EXPECT_THAT(mesh.group(Rank(14), MeshAxis::ExpertTensor), ElementsAre(Rank(14)));
  mesh.tensor = 4, mesh.data = 2, mesh.expert = mesh.expert_tensor = 2;
  EXPECT_THAT(mesh.group(Rank(14), MeshAxis::Expert), ElementsAre(Rank(12), Rank(14)));
  EXPECT_THAT(mesh.group(Rank(14), MeshAxis::ExpertData), ElementsAre(Rank(10), Rank(14)));
  EXPECT_THAT(mesh.group(Rank(14), MeshAxis::ExpertTensor), ElementsAre(Rank(14), Rank(15)));
}

TEST(DeviceMesh, ExpertTensorDegreeOfTheTensorRanksChangesNothing) {
  const DeviceMesh as_tensor{.data = 4, .tensor = 2, .expert = 2};
  DeviceMesh said = as_tensor;
  said.expert_tensor = 2;
  EXPECT_FALSE(said.cuts_experts_apart());
  for (Rank rank{0}; rank.value() < as_tensor.ranks(); ++rank)
    for (const MeshAxis axis : {MeshAxis::Expert, MeshAxis::ExpertData}) {
      EXPECT_EQ(said.group(rank, axis), as_tensor.group(rank, axis));
      EXPECT_EQ(said.of_experts(rank, axis).first, as_tensor.group(rank, axis).front().value());
    }
}

}  // namespace
}  // namespace sim
