#include "planner/meshes.h"

#include <gtest/gtest.h>

#include "planner/search_space.h"
#include "tests/planner/problems.h"

namespace planner {
namespace {

TEST(Meshes, EachCandidateBelongsToItsMesh) {
  const SearchRequest request = small_request({.devices = 8});
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  const Candidates candidates = enumerate(request).candidates;
  const Meshes meshes(request, model, candidates);
  ASSERT_GT(meshes.size(), 1);
  EXPECT_EQ(meshes.begin(0), 0);
  EXPECT_EQ(meshes.end(meshes.size() - 1), candidates.size());
  for (auto at = candidates.begin(); at != candidates.end(); ++at) {
    const std::size_t mesh = meshes.of(static_cast<std::int64_t>(at.index()));
    ASSERT_TRUE(meshes.begin(mesh) <= at.index() && at.index() < meshes.end(mesh));
    EXPECT_EQ((*at).mesh, candidates[meshes.begin(mesh)].mesh);
  }
}

}  // namespace
}  // namespace planner
