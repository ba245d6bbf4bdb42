#include "planner/twin.h"

#include <gtest/gtest.h>

#include "planner/search_space.h"
#include "tests/planner/problems.h"

namespace planner {
namespace {

TEST(Twin, DiffersInTheStageAlone) {
  const Candidates candidates = enumerate(small_request({.devices = 8})).candidates;
  std::int64_t twins = 0;
  for (auto at = candidates.begin(); at != candidates.end(); ++at) {
    const auto index = static_cast<std::int64_t>(at.index());
    PlanCandidate one = *at;
    const std::optional<std::int64_t> twin = twin_of(candidates, index);
    ASSERT_EQ(twin.has_value(), one.zero_stage == 1 || one.zero_stage == 2);
    if (!twin) continue;
    ++twins;
    EXPECT_EQ(twin_of(candidates, *twin), index);
    one.zero_stage = 3 - one.zero_stage;
    EXPECT_EQ(candidates[static_cast<std::size_t>(*twin)], one);
  }
  EXPECT_GT(twins, 0);
}

}  // namespace
}  // namespace planner
