#include "gui/pages/estimate_panel.h"

#include <gmock/gmock.h>

#include <QLabel>
#include <QTableView>

#include "gui/pages/table_panel.h"
#include "gui/views/scatter_view.h"

namespace gui {
namespace {

PlanQuestion onSixteen() {
  return {.model = "profiles/models/gpt2-xl.json", .cluster = "a100-80gb-sxm", .devices = 16, .global_batch = 64, .sequence = 1024};
}

TEST(EstimatePanel, TableScatterAndPartsFollowEachOther) {
  EstimatePanel panel;
  panel.resize(1000, 700);
  panel.setEstimate(estimateOf(onSixteen()));
  EXPECT_EQ(panel.scatter()->chosen(), 0);
  const QString first = panel.parts()->table().rows[0][1].text;
  Q_EMIT panel.scatter()->pointChosen(4);
  EXPECT_EQ(panel.table()->chosen(), 4);
  EXPECT_EQ(panel.scatter()->chosen(), 4);
  EXPECT_NE(panel.parts()->table().rows[0][1].text, first);
  EXPECT_GT(panel.assumptions()->table().rows.size(), 10u);
}

TEST(EstimatePanel, EnterOpensALayoutAndThePlanIsMarked) {
  EstimatePanel panel;
  panel.setEstimate(estimateOf(onSixteen()));
  int opened = -1;
  QObject::connect(&panel, &EstimatePanel::layoutOpened, [&](int position) { opened = position; });
  panel.table()->choose(3);
  Q_EMIT panel.table()->view()->activated(panel.table()->view()->currentIndex());
  ASSERT_EQ(opened, 3);
  EXPECT_FALSE(panel.sentence()->text().contains("●"));
  panel.markPlan(planOf(*panel.shownEstimate(), 3));
  EXPECT_EQ(panel.table()->table().rows[3][0].text, "● 4");
  EXPECT_EQ(panel.table()->chosen(), 3);
  EXPECT_TRUE(panel.sentence()->text().contains("●"));
  panel.markPlan(planOf(*panel.shownEstimate(), 1));
  EXPECT_EQ(panel.table()->table().rows[3][0].text, "4");
}

TEST(EstimatePanel, WhereNothingFitsTheSmallestIsNamed) {
  EstimatePanel panel;
  PlanQuestion question = onSixteen();
  question.memory_limit = "3 GiB";
  panel.setEstimate(estimateOf(question));
  EXPECT_TRUE(panel.table()->table().rows.empty());
  EXPECT_TRUE(panel.sentence()->text().contains("3.00 GiB")) << panel.sentence()->text().toStdString();
}

}  // namespace
}  // namespace gui
