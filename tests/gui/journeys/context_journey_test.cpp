// Which plan, of what: the line above the pages, the title, the question, notes, and where Plan leads.
#include <QAction>

#include "gui/pages/context_line.h"
#include "gui/pages/knobs_panel.h"
#include "gui/pages/table_panel.h"
#include "gui/pages/timeline_page.h"
#include "gui/views/timeline_view.h"
#include "tests/gui/example_plans.h"
#include "tests/gui/journeys/journey.h"

namespace gui::test {
namespace {

using ContextJourney = Journey;

TEST_F(ContextJourney, AnOpenedPlanBringsItsOwnQuestion) {
  planGpt2();
  EXPECT_TRUE(window_.context()->text().startsWith("gpt2-xl · 1.56 B parameters · 16 × a100-80gb-sxm"))
      << window_.context()->text().toStdString();
  const QTemporaryDir folder;
  const QString path = folder.filePath("small.json");
  sim::save_plan(examplePlan(), path.toStdString());
  window_.open(path);
  waitForPlan();
  EXPECT_EQ(window_.windowTitle(), "small.json – Meshwright");
  EXPECT_TRUE(window_.context()->text().contains("8 × 64 tokens")) << window_.context()->text().toStdString();
  const PlanQuestion question = window_.question()->question();
  EXPECT_EQ(question.global_batch, 8);
  EXPECT_EQ(question.sequence, 64);
  EXPECT_EQ(question.devices, 4);
  EXPECT_EQ(question.cluster, "a100-80gb-sxm");
  const planner::SearchRequest request = searchRequest(question);
  EXPECT_EQ(request.model, examplePlan().model);
  trigger("Ctrl+Z");
  waitForPlan();
  EXPECT_TRUE(window_.context()->text().startsWith("gpt2-xl · ")) << window_.context()->text().toStdString();
}

TEST_F(ContextJourney, PlanLeadsToThePlans) {
  planGpt2();
  trigger("Ctrl+3");
  trigger("Ctrl+Return");
  EXPECT_EQ(window_.pages()->currentWidget(), window_.planPage());
  ASSERT_TRUE(QTest::qWaitFor([this] { return !window_.session()->isSearching(); }, 60000));
  waitForAll();
  EXPECT_TRUE(window_.planPage()->foot()->text().contains(" plans simulated")) << window_.planPage()->foot()->text().toStdString();
  EXPECT_TRUE(window_.planPage()->foot()->text().contains("Speed of meshwright on a100-80gb-sxm"));
}

TEST_F(ContextJourney, NotesBelongToTheirPlan) {
  planGpt2();
  TimelineView* view = window_.timelinePage()->view();
  view->setMarks({{sim::SimTime(1000), "here"}});
  window_.knobs()->knob("recompute")->setFocus();
  QTest::keyClick(window_.knobs()->knob("recompute"), Qt::Key_Down);
  waitForPlan();
  EXPECT_TRUE(view->marks().empty());
  trigger("Ctrl+Z");
  waitForPlan();
  ASSERT_EQ(view->marks().size(), 1u);
  EXPECT_EQ(view->marks().front().text, "here");
}

// Values in between are typed, and then refused in words.
TEST_F(ContextJourney, AKnobStepsThroughPlansThatCanBe) {
  planGpt2();
  auto* microbatch = qobject_cast<QSpinBox*>(window_.knobs()->knob("microbatch"));
  for (int times = 0; times < 3; ++times) {
    QTest::keyClick(microbatch, Qt::Key_Up);
    waitForPlan();
    EXPECT_TRUE(sim::violations(*window_.session()->wanted()).empty()) << microbatch->value();
    EXPECT_FALSE(window_.message()->isVisible());
  }
}

}  // namespace
}  // namespace gui::test
