#include "gui/models/estimate_tables.h"

#include <gmock/gmock.h>

namespace gui {
namespace {

SharedEstimate mixtral() {
  return estimateOf(
      {.model = "profiles/models/mixtral-8x7b.json", .cluster = "h100-80gb-sxm", .devices = 64, .global_batch = 128, .sequence = 4096});
}

TEST(EstimateTables, ARowALayout) {
  const SharedEstimate estimate = mixtral();
  const Table table = layoutsTable(*estimate);
  ASSERT_EQ(table.rows.size(), estimate->result.ranked.size());
  EXPECT_EQ(table.marked, estimate->on_front);
  for (const auto& row : table.rows) EXPECT_EQ(row.size(), static_cast<std::size_t>(table.headers.size()));
  EXPECT_THAT(table.rows[0][4].text.toStdString(), testing::MatchesRegex(".* GiB to .* GiB"));
  EXPECT_LT(table.rows[0][5].sort.toDouble(), 0.5);
  EXPECT_THAT(table.rows[0][2].text.toStdString(), testing::MatchesRegex(".* to .*"));
}

TEST(EstimateTables, PartsAddUpToTheStepAndToTheMemory) {
  const Table table = partsTable(mixtral()->result.ranked.front());
  double time = 0, memory = 0;
  bool in_memory = false;
  for (std::size_t row = 1; row < table.rows.size(); ++row) {
    if (table.marked[row])
      in_memory = true;
    else
      (in_memory ? memory : time) += table.rows[row][2].sort.toDouble();
  }
  EXPECT_NEAR(time, 1, 1e-9);
  EXPECT_NEAR(memory, 1, 1e-9);
}

TEST(EstimateTables, WhatWasAssumedIsSaid) {
  const SharedEstimate estimate = mixtral();
  const Table table = assumptionsTable(*estimate, estimate->result.ranked.front());
  EXPECT_EQ(table.rows[1][1].text, "bf16");
  EXPECT_EQ(table.rows.back()[1].text, "2 of 8");
}

}  // namespace
}  // namespace gui
