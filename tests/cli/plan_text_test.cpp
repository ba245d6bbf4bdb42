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
            "data 4 x tensor 1 x pipeline 1, one stage, 2 microbatches of 1, zero 0, reduced each microbatch, recompute none");
}

TEST(PlanText, SummaryIsOneLine) {
  EXPECT_EQ(plan_summary(ranked(4, "").plan), "data 4 x tensor 1 x pipeline 1, one stage, 2 microbatches of 1, zero 0, recompute none");
}

// No cell needs a legend: what a stage keeps, and what an order is, stands in words.
TEST(PlanText, CellsSayWhatTheyMean) {
  sim::ParallelPlan plan = ranked(8, "").plan;
  plan.zero_stage = 3;
  plan.mesh.reshard = 4;
  plan.layers_per_unit = 2;
  EXPECT_THAT(plan_summary(plan), HasSubstr("zero 3 (4 neighbours keep weights until backward, units of 2 blocks)"));
  plan.kept_until = sim::KeptUntil::Step;
  EXPECT_THAT(plan_summary(plan), HasSubstr("4 neighbours keep weights until step"));
  plan.mesh.reshard = plan.layers_per_unit = 1;
  plan.reshard_after_forward = false;
  plan.mesh.replicas = 4;
  EXPECT_THAT(plan_summary(plan), HasSubstr("zero 3 (shards over 2 ranks, replicated, weights kept until backward)"));
  plan.mesh.pipeline = plan.chunks = 2;
  plan.schedule = "interleaved";
  EXPECT_THAT(plan_summary(plan), HasSubstr("pipeline 2, interleaved, 2 chunks"));
  plan.schedule = "csv";
  plan.written_order.emplace();
  EXPECT_THAT(plan_summary(plan), HasSubstr("pipeline 2, order of its own, 2 chunks"));
}

}  // namespace
}  // namespace cli
