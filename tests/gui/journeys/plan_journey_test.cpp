#include <set>

#include "gui/pages/table_panel.h"
#include "gui/views/scatter_view.h"
#include "tests/gui/journeys/journey.h"

namespace gui::test {
namespace {

using PlanJourney = Journey;

TEST_F(PlanJourney, FromAConfigToTheBestPlan) {
  planGpt2();
  TablePanel* table = window_.planPage()->table();
  ScatterView* scatter = window_.planPage()->scatter();
  EXPECT_GT(table->table().rows.size(), 5u);
  EXPECT_EQ(table->chosen(), 0);
  EXPECT_EQ(scatter->chosen(), 0);
  EXPECT_FALSE(window_.planPage()->exclusions()->table().rows.empty());
  const int front = static_cast<int>(window_.planPage()->candidates().size()) - 1;
  QTest::mouseClick(scatter, Qt::LeftButton, {}, scatter->pointOf(front).toPoint());
  EXPECT_EQ(table->chosen(), scatter->chosen());
  table->choose(0);
  waitForPlan();
  picture("plan");
}

TEST_F(PlanJourney, AnEncoderIsPlannedAsAnyModel) {
  const QTemporaryDir folder;
  QFile config(folder.filePath("bert.json"));
  ASSERT_TRUE(config.open(QIODevice::WriteOnly));
  config.write(R"({"model_type": "bert", "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096,
                   "vocab_size": 30522, "max_position_embeddings": 512, "hidden_act": "gelu"})");
  config.close();
  window_.open(config.fileName());
  PlanQuestion question = window_.question()->question();
  EXPECT_EQ(question.model, config.fileName().toStdString());
  question.cluster = "a100-80gb-sxm";
  question.devices = 16;
  question.sequence = 512;
  window_.question()->setQuestion(question);
  window_.plan();
  ASSERT_TRUE(QTest::qWaitFor([this] { return !window_.planPage()->table()->table().rows.empty(); }, 60000));
}

TEST_F(PlanJourney, FilterHidesPoints) {
  planGpt2();
  TablePanel* table = window_.planPage()->table();
  table->setFilter("zero:1");
  const std::vector<bool> visible = table->visibleRows();
  EXPECT_LT(std::count(visible.begin(), visible.end(), true), static_cast<std::ptrdiff_t>(visible.size()));
  const qsizetype zero = table->table().headers.indexOf("ZeRO stage");
  ASSERT_GT(zero, 0);
  for (const auto& row : table->visibleTable().rows) EXPECT_TRUE(row[static_cast<std::size_t>(zero)].text.contains('1'));
}

// Ticked and chosen by key: plans of 1 to 8 devices beside each other, the cheapest first.
TEST_F(PlanJourney, FewerDevicesCompeteByTheirCost) {
  window_.open(QFileInfo("profiles/models/gpt2.json").absoluteFilePath());
  auto* fewer = window_.question()->findChild<QCheckBox*>();
  ASSERT_NE(fewer, nullptr);
  fewer->setFocus();
  QTest::keyClick(fewer, Qt::Key_Space);
  auto* ranking = window_.question()->findChild<QComboBox*>("ranking");
  ASSERT_NE(ranking, nullptr);
  ranking->setFocus();
  QTest::keyClick(ranking, Qt::Key_Home);
  QTest::keyClick(ranking, Qt::Key_Down);
  QTest::keyClick(ranking, Qt::Key_Down);
  EXPECT_EQ(window_.question()->question().objective, planner::Objective::Cost);
  QTest::mouseClick(window_.question()->planButton(), Qt::LeftButton);
  ASSERT_TRUE(QTest::qWaitFor([this] { return !window_.planPage()->candidates().empty(); }, 60000));
  const Table& plans = window_.planPage()->table()->table();
  const auto devices = static_cast<std::size_t>(plans.headers.indexOf("Devices"));
  ASSERT_LT(devices, plans.rows[0].size());
  std::set<QString> numbers;
  for (const std::vector<Cell>& row : plans.rows) numbers.insert(row[devices].text);
  EXPECT_GT(numbers.size(), 1u);
  EXPECT_THAT(window_.planPage()->foot()->text().toStdString(), testing::HasSubstr("cheaper: proven"));
  waitForPlan();
  picture("plan_fewer");
}

TEST_F(PlanJourney, ACancelledSearchLeavesAWindowThatWorks) {
  window_.open(QFileInfo("profiles/models/gpt3-175b.json").absoluteFilePath());
  planGpt3(window_);
  QTest::qWait(150);
  keep(window_.grab().toImage(), "plan_searching");
  trigger("Ctrl+.");
  EXPECT_TRUE(QTest::qWaitFor([this] { return !window_.session()->isSearching(); }, 60000));
}

}  // namespace
}  // namespace gui::test
