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
  const std::vector<sim::Span>& spans = simulated->result.timeline.spans;
  const auto product =
      std::find_if(spans.begin(), spans.end(), [](const sim::Span& span) { return span.key.operation == sim::Operation::Mlp; });
  ASSERT_NE(product, spans.end());
  const Table table = sliceTable(*simulated, static_cast<std::uint32_t>(product - spans.begin()));
  QStringList names;
  for (const std::vector<Cell>& row : table.rows) names << row[0].text;
  EXPECT_TRUE(names.contains("Operations a second") && names.contains("Share of the peak")) << names.join('|').toStdString();
  EXPECT_TRUE(names.contains("With its links for itself"));
  EXPECT_EQ(table.rows.back()[1].text.toStdString(), sim::to_text(product->key));
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
