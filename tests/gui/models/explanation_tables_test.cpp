#include "gui/models/explanation_tables.h"

#include <gmock/gmock.h>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

double sum(const Table& table, std::size_t column) {
  double all = 0;
  for (const std::vector<Cell>& row : table.rows) all += row[column].sort.toDouble();
  return all;
}

TEST(ExplanationTables, SharesOfEachRowAddUpToOne) {
  const Table table = bubbleTable(*test::exampleSimulation());
  ASSERT_EQ(table.rows.size(), 3u);  // all ranks, two stages
  for (const std::vector<Cell>& row : table.rows) {
    double causes = row[1].sort.toDouble();
    EXPECT_NEAR(causes + row[2].sort.toDouble(), 1, 1e-12);
    for (std::size_t cause = 3; cause < row.size(); ++cause) causes += row[cause].sort.toDouble();
    EXPECT_NEAR(causes, 1, 1e-12);
  }
  EXPECT_EQ(table.headers.size(), static_cast<qsizetype>(3 + sim::kNumIdleCauses));
}

TEST(ExplanationTables, TheCriticalPathAddsUpToTheStep) {
  const SharedPlan simulated = test::exampleSimulation();
  const Table kinds = criticalKindsTable(*simulated);
  EXPECT_NEAR(sum(kinds, 2), 1, 1e-12);
  EXPECT_EQ(sum(kinds, 1), static_cast<double>(simulated->result.step_time.count()));
  EXPECT_EQ(criticalLinksTable(*simulated).rows.size(), simulated->critical.links.size());
}

}  // namespace
}  // namespace gui
