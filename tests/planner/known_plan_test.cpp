#include "planner/known_plan.h"

#include <gtest/gtest.h>

#include "planner/search.h"
#include "planner/search_space.h"
#include "tests/planner/problems.h"

namespace planner {
namespace {

TEST(KnownPlan, EachCandidateStandsWhereItIs) {
  const SearchRequest request = small_request({.devices = 8});
  const Candidates candidates = enumerate(request).candidates;
  for (auto at = candidates.begin(); at != candidates.end(); ++at)
    EXPECT_EQ(place_of(candidates, make_plan(request, *at)), static_cast<std::int64_t>(at.index())) << to_text(*at);
}

TEST(KnownPlan, WhatMeansNothingBelowStageThreeIsNotAsked) {
  const SearchRequest request = small_request({.devices = 8});
  const Candidates candidates = enumerate(request).candidates;
  for (auto at = candidates.begin(); at != candidates.end(); ++at) {
    sim::ParallelPlan plan = make_plan(request, *at);
    if (plan.zero_stage == 3) continue;
    plan.reshard_after_forward = !plan.reshard_after_forward;
    EXPECT_EQ(place_of(candidates, plan), static_cast<std::int64_t>(at.index())) << to_text(*at);
  }
}

TEST(KnownPlan, APlanOfAnotherMachineStandsNowhere) {
  const Candidates candidates = enumerate(small_request({.devices = 8})).candidates;
  sim::ParallelPlan plan = make_plan(small_request({.devices = 8}), candidates.front());
  plan.mesh.data *= 3;
  EXPECT_EQ(place_of(candidates, plan), std::nullopt);
}

// Ended with its first answer a search has not found the best yet, unless that is known.
TEST(KnownPlan, WhatIsFoundIsNotBehindItHoweverEarlyTheSearchEnds) {
  SearchRequest request = small_request({.devices = 8});
  request.gap = 0;
  const RankedPlan best = search(request).ranked.front();
  const auto first_found = [](const SearchRequest& asked) {
    std::atomic<bool> cancel{false};
    const auto end = [&](SearchProgress progress) {
      if (progress.best > 0) cancel = true;
    };
    return search(asked, end, &cancel).ranked.front().measure;
  };
  EXPECT_GT(first_found(request), best.measure);
  request.known = best.plan;
  EXPECT_EQ(first_found(request), best.measure);
}

TEST(KnownPlan, ChangesNothingOfWhatIsFoundInTheEnd) {
  SearchRequest request = small_request({.devices = 8});
  request.gap = 0;
  const SearchResult free = search(request);
  for (const RankedPlan& known : free.ranked) {
    request.known = known.plan;
    const SearchResult found = search(request);
    ASSERT_EQ(found.ranked.size(), free.ranked.size());
    for (std::size_t at = 0; at < found.ranked.size(); ++at)
      EXPECT_EQ(sim::plan_hash(found.ranked[at].plan), sim::plan_hash(free.ranked[at].plan));
    EXPECT_EQ(found.candidates, found.infeasible + found.pruned_memory + found.pruned_risk + found.pruned_bound + found.simulated);
  }
}

}  // namespace
}  // namespace planner
