#include "gui/models/comparison_tables.h"

#include <gmock/gmock.h>

#include "tests/cli/simulated_run.h"

namespace gui {
namespace {

TEST(ComparisonTables, TheStepFirst) {
  using Of = ErrorGroup::Of;
  const Table table = errorsTable({{Of::Step, {"step", 3, sim::Seconds(1.1), sim::Seconds(1.0)}},
                                   {Of::Kind, {"forward.mlp_residual", 6, sim::Seconds(0.5), sim::Seconds(1.0)}}});
  EXPECT_EQ(table.rows[0][5].text, "+10.0 %");
  EXPECT_EQ(table.rows[1][1].text, "forward.mlp_residual");
  EXPECT_EQ(table.rows[1][5].text, "-50.0 %");
  EXPECT_TRUE(table.marked[0]);
}

TEST(ComparisonTables, SharesDifferInPoints) {
  sim::Comparison comparison;
  comparison.bubble_simulated = 0.25;
  const Table table = sharesTable(comparison);
  EXPECT_EQ(table.rows[0][3].text, "+25.0 pp");
  EXPECT_EQ(table.rows[2][3].text, "not measured");
}

TEST(ComparisonTables, LoadsOfExpertsStandThereWhereRanksCountedThem) {
  sim::Comparison comparison;
  const auto rows = sharesTable(comparison).rows.size();
  comparison.expert_spread = 0.5;
  const Table table = sharesTable(comparison);
  ASSERT_EQ(table.rows.size(), rows + 1);
  EXPECT_EQ(table.rows.back()[0].text, "spread of tokens over experts");
  EXPECT_EQ(table.rows.back()[2].text, "50.0 %");
}

TEST(ComparisonTables, WhatDiffersMostAndWhatHasNoPartner) {
  sim::ParallelPlan recomputed = cli::test::simulated_plan();
  recomputed.recompute = sim::Recompute::Full;
  const ComparedSteps steps(simulatedSide(simulatePlan(cli::test::simulated_plan())), simulatedSide(simulatePlan(recomputed)));
  const Table unmatched = unmatchedTable(steps);
  EXPECT_EQ(unmatched.rows.size(), steps.pairing.only_left.size() + steps.pairing.only_right.size());
  EXPECT_EQ(unmatched.rows.back()[0].text, "B");
  const DifferenceTable largest = differencesTable(steps);
  EXPECT_EQ(largest.table.rows.size(), std::min(kMostDifferences, steps.pairing.pairs.size()));
  EXPECT_GE(std::abs(largest.table.rows.front()[4].sort.toLongLong()), std::abs(largest.table.rows.back()[4].sort.toLongLong()));
}

}  // namespace
}  // namespace gui
