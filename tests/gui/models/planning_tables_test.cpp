#include "gui/models/planning_tables.h"

#include <gmock/gmock.h>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

TEST(PlanningTables, CandidatesInTheirOrder) {
  const SharedPlan simulated = test::exampleSimulation();
  const planner::RankedPlan ranked{simulated->plan, simulated->result, {{"slower", {{"percent", "8.3 %"}}}}, "8.3 % slower"};
  const Table table = candidatesTable({{ranked, true}, {ranked, false}});
  ASSERT_EQ(table.rows.size(), 2u);
  for (const auto& row : table.rows) EXPECT_EQ(row.size(), static_cast<std::size_t>(table.headers.size()));
  EXPECT_EQ(table.rows[0].back().text, "the best");
  EXPECT_EQ(table.rows[1].back().text, "8.3 % slower");
  EXPECT_TRUE(table.marked[0]);
  EXPECT_FALSE(table.marked[1]);
}

TEST(PlanningTables, DataSaysHowItsRanksAreUsed) {
  planner::RankedPlan ranked;
  ranked.plan.mesh = {.data = 8, .replicas = 2, .context = 4, .expert = 16};
  const Table table = candidatesTable({{ranked, true}});
  EXPECT_EQ(table.rows[0][4].text, "8 × context 4, experts over 16, 2 replicas");
  EXPECT_EQ(table.rows[0][4].sort, 8);
}

TEST(PlanningTables, ExclusionsNameTheFix) {
  planner::Exclusion out;
  out.family = "tensor=16";
  out.nearest_fix = "tensor=8";
  const Table table = exclusionsTable({out, {}});
  EXPECT_EQ(table.rows[0].back().text, "tensor=8");
  EXPECT_EQ(table.rows[1].back().text, "none near by");
}

}  // namespace
}  // namespace gui
