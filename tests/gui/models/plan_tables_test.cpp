#include "gui/models/plan_tables.h"

#include <gmock/gmock.h>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

TEST(PlanTables, FiguresOfAStep) {
  const Table table = figuresTable(*test::exampleSimulation());
  EXPECT_EQ(table.rows[0][0].text, "Step time");
  EXPECT_FALSE(table.rows[0][1].text.isEmpty());
  EXPECT_TRUE(table.rows[1][1].text.contains(" to "));
  EXPECT_EQ(table.rows[10][1].text, "yes");
}

TEST(PlanTables, ASliceNamesItsTask) {
  const SharedPlan simulated = test::exampleSimulation();
  const sim::Span& span = simulated->result.timeline.spans.front();
  const Table table = sliceTable(span, sim::SimTime(0));
  EXPECT_EQ(table.rows.back()[1].text.toStdString(), sim::to_text(span.key));
}

TEST(PlanTables, AliveItems) {
  const Table table = aliveTable({{sim::MemoryCategory::OptimizerState, sim::MicrobatchIndex::none(), sim::Bytes(1024)},
                                  {sim::MemoryCategory::Activations, sim::MicrobatchIndex(2), sim::Bytes(512)}});
  EXPECT_EQ(table.rows[0][0].text, "optimizer state");
  EXPECT_EQ(table.rows[0][1].text, QStringLiteral("–"));
  EXPECT_EQ(table.rows[1][1].text, "2");
  EXPECT_EQ(categoryName(sim::MemoryCategory::GatheredUnits), "gathered units");
}

}  // namespace
}  // namespace gui
