#include "planner/found_so_far.h"

#include <gtest/gtest.h>

#include "planner/evaluator.h"
#include "planner/plan_candidate.h"
#include "tests/planner/problems.h"

namespace planner {
namespace {

struct Given {
  SearchRequest request = small_request({.devices = 1});
  sim::ParallelPlan plan = make_plan(request, {});
  sim::SimulationResult result = sim::simulate(sim::make_model_graph(plan), plan);
  Outcome outcome(std::int64_t time, std::int64_t index) const { return {sim::SimTime(time), result.peak_memory, index}; }
};

TEST(FoundSoFar, WhatIsTooLargeIsCountedAlone) {
  Given given;
  given.request.memory_limit = given.result.peak_memory - sim::Bytes(1);
  FoundSoFar found(given.request);
  EXPECT_EQ(found.take(given.outcome(5, 0), given.plan, given.result), Verdict::TooLarge);
  EXPECT_EQ(found.too_large(), 1);
  EXPECT_TRUE(found.results().empty());
  EXPECT_FALSE(found.has_ranked());
}

TEST(FoundSoFar, OfTheTooRiskyTheFastestIsKept) {
  Given given;
  given.request.memory_limit = given.result.peak_memory;  // as likely too small as not
  FoundSoFar found(given.request);
  EXPECT_EQ(found.take(given.outcome(5, 0), given.plan, given.result), Verdict::TooRisky);
  EXPECT_EQ(found.take(given.outcome(7, 1), given.plan, given.result), Verdict::TooRisky);
  EXPECT_EQ(found.risky(), 2);
  EXPECT_EQ(found.fastest_risky()->index, 0);
  EXPECT_TRUE(found.is_surely_risky(given.outcome(6, 2)));
  EXPECT_FALSE(found.can_matter(given.outcome(6, 2)));
  EXPECT_EQ(found.dismissed(given.outcome(6, 2)), Verdict::TooRisky);
  EXPECT_TRUE(found.can_matter(given.outcome(4, 2)));
}

TEST(FoundSoFar, OnlyWhatTheAnswerNeedsIsKept) {
  Given given;
  given.request.top = 1;
  FoundSoFar found(given.request);
  for (const std::int64_t time : {9, 5, 7}) EXPECT_EQ(found.take(given.outcome(time, time), given.plan, given.result), Verdict::Simulated);
  EXPECT_TRUE(found.has_ranks());
  found.forget_others();
  ASSERT_EQ(found.results().size(), 1);
  EXPECT_EQ(found.results().begin()->first, 5);
  EXPECT_FALSE(found.can_matter(given.outcome(8, 8)));
}

}  // namespace
}  // namespace planner
