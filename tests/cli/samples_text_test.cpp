#include "cli/samples_text.h"

#include <gmock/gmock.h>

#include "tests/sim/plan/plans.h"

namespace cli {
namespace {

sim::ParallelPlan plan_with(std::string_view samples) {
  std::vector<sim::Violation> wrong;
  sim::ParallelPlan plan = sim::testing::tiny_plan({.data = 4});
  plan.workload.samples = sim::parse_samples_policy(samples, wrong);
  return plan;
}

TEST(SamplesText, IsEmptyWhereADocumentFillsARow) { EXPECT_TRUE(samples_rows(plan_with("")).empty()); }

TEST(SamplesText, SaysPaddingAndTokensThatCount) {
  const auto rows = samples_rows(plan_with("padded fixed 24"));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_THAT(rows[0][1], testing::StartsWith("padded fixed 24: 1.0 a row, a token attends inside one of 24 tokens"));
  EXPECT_THAT(rows[1][1], testing::HasSubstr("25.0 % are padding, 71.9 % predict a next one"));  // 23 of 32
  EXPECT_THAT(rows[2][1], testing::HasSubstr("1.00 of the mean rank's attention: 4 data ranks meet, once a step"));
}

TEST(SamplesText, SaysWhatIsCut) {
  EXPECT_THAT(samples_rows(plan_with("padded fixed 64"))[1][1], testing::HasSubstr("50.0 % of the documents' tokens have no place"));
}

TEST(SamplesText, SaysWhereDocumentsChangeNoWork) {
  sim::ParallelPlan plan = plan_with("packed list 2 30");
  plan.cluster.software.attention = "unfused";
  EXPECT_THAT(samples_rows(plan)[2][1], testing::HasSubstr("all rows are equal work"));
}

}  // namespace
}  // namespace cli
