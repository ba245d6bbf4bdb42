#include "gui/core/candidates.h"

#include <gmock/gmock.h>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

planner::RankedPlan rankedWith(std::int64_t microbatch) {
  planner::RankedPlan ranked;
  ranked.plan = test::examplePlan();
  ranked.plan.microbatch_size = microbatch;
  return ranked;
}

TEST(Candidates, RankingFirstThenTheRestOfTheFront) {
  planner::SearchResult result;
  result.ranked = {rankedWith(1), rankedWith(2)};
  result.pareto = {rankedWith(1), rankedWith(4)};
  const std::vector<Candidate> all = candidatesOf(result);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[2].plan.plan.microbatch_size, 4);
  EXPECT_TRUE(all[0].on_front);
  EXPECT_FALSE(all[1].on_front);
  EXPECT_TRUE(all[2].on_front);
}

}  // namespace
}  // namespace gui
