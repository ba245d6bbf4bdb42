#include "planner/mesh_space.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/planner/every_plan.h"

namespace planner {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;

MeshSpace meshes_of(const SearchRequest& request) { return enumerate_meshes(request, read_fixed_axes(request.fixed)); }

TEST(MeshSpace, EveryMeshFillsTheDevicesOnce) {
  const MeshSpace space = meshes_of(small_request({.devices = 8}));
  EXPECT_TRUE(space.possible);
  EXPECT_EQ(space.meshes.size(), 8U);  // 8 = data x tensor x pipeline, tensor and pipeline at most 4 of 4 heads and blocks
  for (const sim::DeviceMesh& mesh : space.meshes) {
    EXPECT_EQ(mesh.ranks(), 8);
    EXPECT_EQ(std::count(space.meshes.begin(), space.meshes.end(), mesh), 1);
  }
}

TEST(MeshSpace, ReplicasFillNodesAlone) {
  SearchRequest request = small_request({.devices = 8, .devices_per_node = 2});
  request.fixed = {{"data", "8"}};
  const MeshSpace space = meshes_of(request);
  ASSERT_EQ(space.meshes.size(), 2U);
  EXPECT_EQ(space.meshes[0].replicas, 1);
  EXPECT_EQ(space.meshes[1].replicas, 4);
}

TEST(MeshSpace, ExpertDegreesDivideExpertsAndRanks) {
  SearchRequest request = expert_request();
  request.fixed = {{"expert", "4"}};
  ASSERT_FALSE(meshes_of(request).meshes.empty());
  for (const sim::DeviceMesh& mesh : meshes_of(request).meshes) EXPECT_EQ(mesh.expert, 4);
  request.fixed = {{"expert", "3"}};
  EXPECT_TRUE(meshes_of(request).meshes.empty());
  EXPECT_THAT(meshes_of(request).excluded, Contains(Field(&Exclusion::rule, "divisibility.experts")));
  request.fixed = {{"expert", "4"}, {"data", "2"}};
  EXPECT_THAT(meshes_of(request).excluded, Contains(Field(&Exclusion::rule, "divisibility.expert_ranks")));
}

TEST(MeshSpace, ADenseModelHasNoExperts) {
  SearchRequest request = expert_request();
  request.model.experts.reset();
  for (const sim::DeviceMesh& mesh : meshes_of(request).meshes) EXPECT_EQ(mesh.expert, 1);
  request.fixed = {{"expert", "2"}};
  const MeshSpace space = meshes_of(request);
  EXPECT_TRUE(space.meshes.empty());
  EXPECT_EQ(
      std::count_if(space.excluded.begin(), space.excluded.end(), [](const Exclusion& out) { return out.rule == "shape.no_experts"; }), 1);
}

TEST(MeshSpace, ReplicasThatAreFixedNeedNoNode) {
  SearchRequest request = small_request({.devices = 4});
  request.fixed = {{"data", "4"}, {"replicas", "2"}};
  ASSERT_FALSE(meshes_of(request).meshes.empty());
  for (const sim::DeviceMesh& mesh : meshes_of(request).meshes) EXPECT_EQ(mesh.replicas, 2);
  request.fixed = {{"data", "4"}, {"replicas", "3"}};
  EXPECT_THAT(meshes_of(request).excluded, Contains(Field(&Exclusion::reason, "3 replicas do not cut 4 data ranks into shards")));
}

TEST(MeshSpace, DegreesThatDoNotMultiplyToTheDevices) {
  SearchRequest request = small_request({.devices = 8});
  request.fixed = {{"tensor", "4"}, {"pipeline", "4"}};
  const MeshSpace space = meshes_of(request);
  EXPECT_FALSE(space.possible);
  ASSERT_EQ(space.meshes.size(), 1U);  // as asked
  EXPECT_EQ(space.meshes.front().tensor, 4);
  EXPECT_THAT(space.excluded,
              Contains(AllOf(Field(&Exclusion::reason, "data 1 x tensor 4 x pipeline 4 = 16 ranks, but the cluster has 8 devices"),
                             Field(&Exclusion::nearest_fix, "data=1 tensor=2 pipeline=4"))));
}

TEST(MeshSpace, SaysWhyADegreeIsOut) {
  const MeshSpace space = meshes_of(gpt3_request({.devices = 1024, .devices_per_node = 8}));
  EXPECT_THAT(space.excluded, Contains(AllOf(Field(&Exclusion::family, "tensor=64"), Field(&Exclusion::code, "divisibility"),
                                             Field(&Exclusion::reason, "96 attention heads are not divisible by 64"),
                                             Field(&Exclusion::nearest_fix, "tensor=8"))));
  EXPECT_THAT(space.excluded, Contains(AllOf(Field(&Exclusion::family, "tensor=16"), Field(&Exclusion::code, "node_size"))));
}

}  // namespace
}  // namespace planner
