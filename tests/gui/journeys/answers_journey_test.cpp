#include <QLabel>
#include <QListWidget>
#include <QPushButton>

#include "gui/pages/answers_page.h"
#include "gui/pages/table_panel.h"
#include "tests/gui/journeys/journey.h"

namespace gui::test {
namespace {

using AnswersJourney = Journey;

TEST_F(AnswersJourney, EveryQuestionIsOneClickAndAVariantIsAnEdit) {
  planGpt2();
  choosePipelined(4);
  trigger("Ctrl+8");
  AnswersPage* page = window_.answersPage();
  for (int question = 0; question < page->questions()->count(); ++question) {
    page->questions()->setCurrentRow(question);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !page->isAsking(); }, 60000)) << question;
    EXPECT_FALSE(page->sentence()->text().contains('%' + QString::number(1))) << page->sentence()->text().toStdString();
  }
  page->questions()->setCurrentRow(9);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !page->isAsking(); }, 60000));
  page->table()->choose(2);
  picture("answers");
  page->findChild<QPushButton*>()->click();
  waitForPlan();
  EXPECT_EQ(window_.session()->plan()->plan.recompute, sim::Recompute::Full);
  trigger("Ctrl+Z");
  waitForPlan();
  EXPECT_NE(window_.session()->plan()->plan.recompute, sim::Recompute::Full);
}

}  // namespace
}  // namespace gui::test
