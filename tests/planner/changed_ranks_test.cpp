#include "planner/changed_ranks.h"

#include <gmock/gmock.h>

#include "tests/planner/problems.h"

namespace planner {
namespace {

SearchResult found(const SearchRequest& request) {
  SearchResult result = search(request);
  EXPECT_GE(result.ranked.size(), 3u);
  return result;
}
SearchRequest a_few() {
  SearchRequest request = small_request({.devices = 8});
  request.gap = 0;
  return request;
}

std::optional<RankedPlan> in_less(const SearchRequest& request, const RankedPlan& ranked, int times) {
  sim::SimulationResult result = ranked.result;
  result.step_time /= times;
  return changed_rank(request, ranked, ranked.plan, result);
}

TEST(ChangedRanks, ABetterOneComesAhead) {
  const SearchRequest request = a_few();
  const SearchResult before = found(request);
  SearchResult after = before;
  for (const double times : {0.9, 0.1}) {  // of the best: behind what comes ahead, and before it
    after.risky.push_back(before.ranked.front());
    after.risky.back().measure *= times;
  }
  const auto all = [](const SearchRequest&, const sim::ParallelPlan&) { return true; };
  const auto all_but_the_best = [](const SearchRequest& of, const RankedPlan& ranked) {
    return ranked.why_not_best.empty() ? std::nullopt : in_less(of, ranked, 4);
  };
  change_ranks(request, after, {.most_tried = 2, .may_be_tried = all, .better = all_but_the_best}, nullptr);
  ASSERT_EQ(after.ranked.size(), before.ranked.size());
  EXPECT_EQ(sim::plan_hash(after.ranked[0].plan), sim::plan_hash(before.ranked[1].plan));
  EXPECT_EQ(sim::plan_hash(after.ranked[1].plan), sim::plan_hash(before.ranked[0].plan));
  EXPECT_EQ(after.ranked[2].measure, before.ranked[2].measure) << "two were tried";
  EXPECT_TRUE(after.ranked[0].why_not_best.empty());
  EXPECT_FALSE(after.ranked[1].why_not_best.empty());
  EXPECT_EQ(*after.gap, 0) << "none of the space is better";
  ASSERT_EQ(after.risky.size(), 1u) << "the other one is not faster any more";
  EXPECT_THAT(after.risky[0].why_not_best, ::testing::HasSubstr("faster"));
}

TEST(ChangedRanks, WhatIsNotBetterOrRefusedOrTooLargeStays) {
  SearchRequest request = a_few();
  const RankedPlan best = found(request).ranked.front();
  EXPECT_TRUE(in_less(request, best, 2));
  EXPECT_NEAR(in_less(request, best, 2)->ranked_by, best.ranked_by / 2, 1e-6 * best.ranked_by);
  EXPECT_FALSE(in_less(request, best, 1));
  request.memory_limit = sim::Bytes(1);
  EXPECT_FALSE(in_less(request, best, 2));
  request.memory_limit.reset();
  request.why_not = [](const sim::ParallelPlan&) { return std::vector<sim::Violation>{{"/schedule", "no word", "none"}}; };
  EXPECT_FALSE(in_less(request, best, 2));
}

}  // namespace
}  // namespace planner
