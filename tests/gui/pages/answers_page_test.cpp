#include "gui/pages/answers_page.h"

#include <gmock/gmock.h>

#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include "gui/pages/table_panel.h"
#include "tests/gui/example_plans.h"

namespace gui {
namespace {

TEST(AnswersPage, AClickAnswersAndAVariantCanBeTaken) {
  AnswersPage page;
  page.resize(900, 500);
  page.setPlan(test::exampleSimulation());
  QSignalSpy wanted(&page, &AnswersPage::planWanted);
  page.questions()->setCurrentRow(4);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !page.isAsking(); }, 60000));
  EXPECT_TRUE(page.sentence()->text().contains("microbatch") || page.sentence()->text().contains("as it is"));
  ASSERT_GE(page.table()->table().rows.size(), 3u);
  page.table()->choose(1);
  QTest::mouseClick(page.findChild<QPushButton*>(), Qt::LeftButton);
  ASSERT_EQ(wanted.count(), 1);
  EXPECT_EQ(wanted[0][0].value<sim::ParallelPlan>().microbatch_size, 2);
}

}  // namespace
}  // namespace gui
