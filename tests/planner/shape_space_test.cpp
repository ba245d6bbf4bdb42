#include "planner/shape_space.h"

#include <gmock/gmock.h>

#include "sim/schedule/schedule.h"
#include "sim/units/at.h"
#include "tests/planner/problems.h"

namespace planner {
namespace {

struct Shapes {
  explicit Shapes(Fixed given = {}) { request.fixed = std::move(given); }
  std::vector<PlanCandidate> of(const sim::DeviceMesh& mesh) {
    const FixedAxes fixed = read_fixed_axes(request.fixed);
    UnsayableFamilies unsayable(excluded);
    ShapeSpace space(request, fixed, excluded, unsayable);
    std::vector<PlanCandidate> shapes;
    space.visit(mesh, refusals, [&](const PlanCandidate& shape) { shapes.push_back(shape); });
    if (shapes.empty() && !refusals.empty()) space.exclude_mesh(mesh, refusals.front());
    return shapes;
  }
  SearchRequest request = small_request({.devices = 4});  // 4 blocks, 8 samples
  std::vector<Exclusion> excluded;
  std::vector<Reason> refusals;
};

// One stage: each microbatch once. Two: every order that there is, with every number of chunks that four blocks have.
TEST(ShapeSpace, OrdersAreAChoiceOfSeveralStages) {
  EXPECT_EQ(Shapes().of({.data = 4}).size(), 2u);
  const std::vector<PlanCandidate> staged = Shapes().of({.data = 2, .pipeline = 2});
  EXPECT_TRUE(std::ranges::any_of(staged, [](const PlanCandidate& at) { return at.chunks == 2; }));
  EXPECT_TRUE(
      std::ranges::any_of(staged, [](const PlanCandidate& at) { return sim::at(sim::all_schedules(), at.schedule).splits_backward; }));
  for (const PlanCandidate& at : staged) EXPECT_LE(at.mesh.pipeline * at.chunks, 4);
}

TEST(ShapeSpace, AMicrobatchThatDividesNothingIsTold) {
  Shapes shapes(Fixed{{"microbatch", "3"}});
  EXPECT_TRUE(shapes.of({.data = 4}).empty());
  ASSERT_EQ(shapes.excluded.size(), 1u);
  EXPECT_EQ(shapes.excluded.front().code, "divisibility");
  EXPECT_EQ(shapes.excluded.front().nearest_fix, "microbatch=2");
}

TEST(ShapeSpace, MoreChunksThanBlocksAreTold) {
  Shapes shapes(Fixed{{"chunks", "3"}});
  EXPECT_TRUE(shapes.of({.data = 2, .pipeline = 2}).empty());
  ASSERT_EQ(shapes.excluded.size(), 1u);
  EXPECT_EQ(shapes.excluded.front().code, "shape");
  EXPECT_THAT(shapes.excluded.front().nearest_fix, testing::HasSubstr("chunks="));
}

}  // namespace
}  // namespace planner
