#include "cli/plan_text.h"

#include <gmock/gmock.h>

namespace cli {
namespace {

using testing::HasSubstr;
using testing::Not;

planner::RankedPlan ranked(std::int32_t data, const std::string& why) {
  planner::RankedPlan plan;
  plan.plan.mesh.data = data;
  plan.plan.workload.global_batch = 8;
  plan.result.mfu = 0.4567;
  plan.why_not_best = why;
  return plan;
}

std::string text(const planner::SearchResult& result) { return search_text({}, result, Console(Form::Json)); }

TEST(PlanText, RanksWithReasons) {
  planner::SearchResult result;
  result.ranked = {ranked(4, ""), ranked(2, "8.3 % slower: bubble")};
  result.proof = "optimal over 12 candidates";
  EXPECT_THAT(text(result), testing::ContainsRegex("1 +4 .*2 x 1.*45\\.7 %"));
  EXPECT_THAT(text(result), HasSubstr("8.3 % slower: bubble"));
  EXPECT_THAT(text(result), HasSubstr("optimal over 12 candidates"));
  EXPECT_THAT(text(result), Not(HasSubstr("Pareto")));
}

TEST(PlanText, ExclusionsNameTheNearestFix) {
  planner::SearchResult result;
  result.excluded = {{.family = "tensor=16",
                      .code = "divisibility",
                      .reason = "12 heads do not divide by 16",
                      .arguments = {},
                      .nearest_fix = "tensor=12",
                      .candidates = 7}};
  EXPECT_THAT(text(result), HasSubstr("12 heads do not divide by 16; nearest fix: tensor=12"));
}

TEST(PlanText, FamiliesThatAreOutByTheSamePlanAreOneLine) {
  const auto out = [](const char* family, std::int64_t candidates) {
    return planner::Exclusion{.family = family,
                              .code = "memory",
                              .reason = "needs at least 96.4 GiB",
                              .arguments = {},
                              .nearest_fix = "",
                              .candidates = candidates};
  };
  const auto rows = exclusion_rows({out("tensor=3", 4), out("tensor=5", 3), out("zero=3", 7), out("reshard=true", 2)});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1][0], "tensor=3 and 3 more");
  EXPECT_EQ(rows[1][1], "7");  // values of one axis add up; those of another are the same plans
}

TEST(PlanText, ALongFrontShowsItsEnds) {
  planner::SearchResult result;
  for (std::int32_t data = 1; data <= 20; ++data) result.pareto.push_back(ranked(data, ""));
  EXPECT_THAT(text(result), testing::ContainsRegex("\n *1 +1 "));
  EXPECT_THAT(text(result), testing::ContainsRegex("\n *20 +20 "));
  EXPECT_THAT(text(result), HasSubstr("and 12 more"));
}

TEST(PlanText, WhenGradientsAreReducedStandsWherePlansDiffer) {
  planner::SearchResult result;
  result.ranked = {ranked(4, ""), ranked(2, "8.3 % slower: bubble")};
  EXPECT_THAT(text(result), Not(HasSubstr("reduced")));
  result.ranked.front().plan.accumulation = sim::Accumulation::ReduceEach;
  EXPECT_THAT(text(result), testing::ContainsRegex("data  reduced  tensor(.|\n)*1 +4 +each (.|\n)*2 +2 +last "));
  EXPECT_EQ(plan_summary(result.ranked.front().plan),
            "data 4 x tensor 1 x pipeline 1, one stage, 2 microbatches of 1, zero0 of each microbatch, recompute none");
}

TEST(PlanText, SummaryIsOneLine) {
  EXPECT_EQ(plan_summary(ranked(4, "").plan), "data 4 x tensor 1 x pipeline 1, one stage, 2 microbatches of 1, zero0, recompute none");
}

}  // namespace
}  // namespace cli
