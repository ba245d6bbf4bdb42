#include "gui/models/comparison_tables.h"

#include <gmock/gmock.h>

namespace gui {
namespace {

sim::Comparison exampleComparison() {
  sim::Comparison comparison;
  comparison.step = {"step", 3, sim::Seconds(1.1), sim::Seconds(1.0)};
  comparison.kinds = {{"forward.mlp_residual", 6, sim::Seconds(0.5), sim::Seconds(1.0)}};
  comparison.only_measured = {"rank 1: s0"};
  comparison.bubble_simulated = 0.25;
  return comparison;
}

TEST(ComparisonTables, TheStepFirst) {
  const Table table = errorsTable(exampleComparison());
  EXPECT_EQ(table.rows[0][4].text, "+10.0 %");
  EXPECT_EQ(table.rows[1][0].text, "forward.mlp residual");
  EXPECT_EQ(table.rows[1][4].text, "-50.0 %");
  EXPECT_TRUE(table.marked[0]);
}

TEST(ComparisonTables, SharesDifferInPoints) {
  const Table table = sharesTable(exampleComparison());
  EXPECT_EQ(table.rows[0][3].text, "+25.0 pp");
  EXPECT_EQ(table.rows[2][3].text, "not measured");
}

TEST(ComparisonTables, WhatHasNoPartner) {
  const Table table = unmatchedTable(exampleComparison());
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0][0].text, "measured");
}

}  // namespace
}  // namespace gui
