#include "gui/models/explanation_tables.h"

#include <gmock/gmock.h>

#include "tests/cli/simulated_run.h"
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
  const Table links = criticalLinksTable(*simulated, [](const sim::TaskKey&) { return QStringLiteral("a name"); });
  EXPECT_EQ(links.rows.size(), simulated->critical.links.size());
  EXPECT_EQ(links.rows[0][1].text, "a name");
}

// Every picosecond of the difference between the steps has a cause (up to the rounding of a mean).
TEST(ExplanationTables, TheGapAddsUp) {
  auto slow = std::make_shared<MeasuredRun>(*loadRun(cli::test::write_simulated_run(cli::test::simulated_plan(), "gui_gap")));
  MeasuredRun& run = *slow;
  for (sim::Span& span : run.measured.spans) span.start *= 2, span.end *= 2;  // a machine of half the speed
  const sim::TaskGraph& graph = run.simulated->graph;
  run.idle = sim::idle_times(sim::dependencies_of(graph, run.measured, sim::stream_order(run.simulated->plan)), graph);
  const std::vector<ComparedSide> sides = sidesOf(slow);
  const Table table = gapTable({sides[0], sides[1]});
  ASSERT_EQ(table.rows.size(), 2 + sim::kNumIdleCauses);
  double parts = 0, shares = 0;
  for (std::size_t row = 1; row < table.rows.size(); ++row) {
    parts += table.rows[row][3].sort.toDouble();
    shares += table.rows[row][4].sort.toDouble();
  }
  EXPECT_NEAR(parts, table.rows[0][3].sort.toDouble(), 8);
  EXPECT_NEAR(shares, 1, 1e-6);
  const double computing = table.rows[1][1].sort.toDouble();
  EXPECT_NEAR(table.rows[1][3].sort.toDouble(), computing, 0.01 * computing);
}

}  // namespace
}  // namespace gui
