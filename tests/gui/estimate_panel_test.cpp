#include "gui/estimate_panel.h"

#include <gmock/gmock.h>

#include <QLabel>

#include "gui/table_panel.h"
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
