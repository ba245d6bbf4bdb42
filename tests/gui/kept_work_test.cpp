#include <gmock/gmock.h>

#include <QComboBox>
#include <QTest>

#include "gui/main_window.h"
#include "gui/pages/knobs_panel.h"
#include "gui/pages/message_bar.h"
#include "gui/pages/plan_page.h"
#include "gui/pages/question_panel.h"
#include "gui/pages/run_page.h"
#include "gui/pages/table_panel.h"
#include "gui/pages/timeline_page.h"
#include "gui/views/line_view.h"
#include "gui/views/timeline_view.h"
#include "tests/gui/example_plans.h"

namespace gui {
namespace {

QString workFile() { return QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) + "/work.json"; }

class Work : public testing::Test {
 protected:
  Work() { forget(); }

  ~Work() override { forget(); }
  static void forget() {
    for (const char* name : {"work.json", "answer.json", "runs.json"}) QFile::remove(QFileInfo(workFile()).absolutePath() + '/' + name);
  }
  static void waitForPlan(MainWindow& window) {
    ASSERT_TRUE(QTest::qWaitFor(
        [&] {
          return window.session()->plan() && sim::plan_hash(window.session()->plan()->plan) == sim::plan_hash(*window.session()->wanted());
        },
        10000));
  }
  static void turn(MainWindow& window, std::int64_t microbatch) {
    Q_EMIT window.knobs()->edited(turned(*window.session()->wanted(), {"microbatch", microbatch}));
    waitForPlan(window);
  }
};

TEST_F(Work, QuestionPlansUndoAndViewComeBack) {
  {
    MainWindow window;
    window.work()->restore();
    PlanQuestion question = window.question()->question();
    question.model = "profiles/models/gpt2.json";
    question.global_batch = 24;
    window.question()->setQuestion(question);
    window.session()->show(test::examplePlan(), Session::Origin::Chosen);
    waitForPlan(window);
    turn(window, 2);
    turn(window, 4);
    window.undoStack()->undo();
    waitForPlan(window);
    window.runPage()->setRequest({.data = "t.bin", .folder = "/tmp/no-run", .steps = 77});
    window.findChild<QAction*>("every_rank")->setChecked(true);
    ASSERT_TRUE(QTest::qWaitFor([&] { return window.session()->plan()->every_rank.has_value(); }, 60000));
    window.timelinePage()->view()->pinWanted(3);
    window.timelinePage()->grouping()->setCurrentIndex(1);
    window.timelinePage()->view()->setMarks({{sim::SimTime(1000), "here"}});
    window.timelinePage()->view()->setShown({sim::SimTime(10), sim::SimTime(2000)});
    window.work()->keepNow();
  }
  MainWindow later;
  later.work()->restore();
  EXPECT_EQ(later.question()->question().model, "profiles/models/gpt2.json");
  EXPECT_EQ(later.question()->question().global_batch, 24);
  waitForPlan(later);
  EXPECT_EQ(later.session()->plan()->plan.microbatch_size, 2);
  EXPECT_EQ(later.timelinePage()->grouping()->currentIndex(), 1);
  EXPECT_TRUE(later.session()->plan()->every_rank);
  EXPECT_EQ(later.timelinePage()->viewState().pinned, (std::set<std::int32_t>{3}));
  EXPECT_EQ(later.runPage()->request().data, "t.bin");
  EXPECT_EQ(later.runPage()->request().steps, 77);
  EXPECT_EQ(later.timelinePage()->view()->marks().size(), 1u);
  EXPECT_EQ(later.timelinePage()->view()->shown(), (TimeRange{sim::SimTime(10), sim::SimTime(2000)}));
  later.undoStack()->redo();
  waitForPlan(later);
  EXPECT_EQ(later.session()->plan()->plan.microbatch_size, 4);
  later.undoStack()->undo();
  later.undoStack()->undo();
  waitForPlan(later);
  EXPECT_EQ(later.session()->plan()->plan.microbatch_size, 1);
  EXPECT_FALSE(later.undoStack()->canUndo());
}

TEST_F(Work, ThePlansThatWereFoundComeBackWithoutASearch) {
  std::size_t found = 0;
  {
    MainWindow window;
    window.work()->restore();
    window.question()->setQuestion(
        {.model = "profiles/models/tiny-gpt2.json", .cluster = "a100-80gb-sxm", .devices = 4, .global_batch = 16, .sequence = 64});
    window.plan();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !window.planPage()->candidates().empty() && !window.isWorking(); }, 60000));
    found = window.planPage()->candidates().size();
    window.planPage()->table()->choose(1);
    waitForPlan(window);
    window.work()->keepNow();
  }
  MainWindow later;
  later.work()->restore();
  ASSERT_TRUE(QTest::qWaitFor([&] { return !later.planPage()->candidates().empty(); }, 60000));
  EXPECT_EQ(later.planPage()->candidates().size(), found);
  EXPECT_EQ(later.planPage()->table()->chosen(), 1);
  waitForPlan(later);
}

// A run that has ended is there again, with what it told.
TEST_F(Work, AFinishedRunComesBack) {
  const QTemporaryDir folder;
  QDir(folder.path()).mkdir("run");
  QFile metrics(folder.filePath("run/metrics.ndjson"));
  ASSERT_TRUE(metrics.open(QIODevice::WriteOnly));
  metrics.write("{\"step\": 1, \"loss\": 3, \"tokens_per_second\": 9}\n{\"step\": 2, \"loss\": 2, \"tokens_per_second\": 9}\n");
  metrics.close();
  {
    MainWindow window;
    window.work()->restore();
    window.runPage()->setRequest({.data = "t.bin", .folder = folder.filePath("run"), .steps = 20});
    window.work()->keepNow();
  }
  MainWindow later;
  later.work()->restore();
  EXPECT_EQ(later.runPage()->loss()->numPoints(), 2u);
  EXPECT_EQ(later.runPage()->request().steps, 20);
  EXPECT_TRUE(later.runPage()->stateText().contains("ended after step 2")) << later.runPage()->stateText().toStdString();
}

// A row that is chosen does not discard the edit before it: undo leads back, across rows.
TEST_F(Work, UndoLeadsBackAcrossRows) {
  MainWindow window;
  window.question()->setQuestion(
      {.model = "profiles/models/tiny-gpt2.json", .cluster = "a100-80gb-sxm", .devices = 4, .global_batch = 16, .sequence = 64});
  window.plan();
  ASSERT_TRUE(QTest::qWaitFor([&] { return window.planPage()->candidates().size() > 2 && !window.isWorking(); }, 60000));
  const std::string best = sim::plan_hash(*window.session()->wanted());
  turn(window, 2);
  const std::string edited = sim::plan_hash(*window.session()->wanted());
  ASSERT_NE(edited, best);
  const int row = sim::plan_hash(window.planPage()->candidates()[2].plan.plan) == edited ? 1 : 2;
  window.planPage()->table()->choose(row);
  waitForPlan(window);
  EXPECT_NE(sim::plan_hash(*window.session()->wanted()), edited);
  window.undoStack()->undo();
  EXPECT_EQ(sim::plan_hash(*window.session()->wanted()), edited);
  window.undoStack()->undo();
  EXPECT_EQ(sim::plan_hash(*window.session()->wanted()), best);
  EXPECT_EQ(window.planPage()->table()->chosen(), 0);
  window.undoStack()->redo();
  window.undoStack()->redo();
  EXPECT_EQ(window.planPage()->table()->chosen(), row);
  waitForPlan(window);
}

TEST_F(Work, StartingAfreshIsAskedFirst) {
  MainWindow window;
  window.show();
  for (QAction* action : window.actions().all())
    if (action->shortcut() == QKeySequence("Ctrl+Shift+N")) action->trigger();
  auto* asked = window.findChild<QMessageBox*>();
  ASSERT_NE(asked, nullptr);
  EXPECT_EQ(asked->defaultButton(), asked->button(QMessageBox::Cancel));
  asked->reject();
  EXPECT_TRUE(window.isVisible());
}

TEST_F(Work, WhatIsBrokenIsSaidAndSetAside) {
  QDir().mkpath(QFileInfo(workFile()).path());
  QFile file(workFile());
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("{\"format\": \"meshwright.wor");
  file.close();
  MainWindow window;
  window.work()->restore();
  EXPECT_TRUE(window.message()->text().contains("could not be restored")) << window.message()->text().toStdString();
  EXPECT_FALSE(QFile::exists(workFile()));
  EXPECT_TRUE(QFile::exists(workFile() + ".broken"));
  QFile::remove(workFile() + ".broken");
}

TEST_F(Work, StartedAfreshItRemembersNothing) {
  QPointer<MainWindow> window = new MainWindow;
  window->setAttribute(Qt::WA_DeleteOnClose);
  window->show();
  window->work()->restore();
  PlanQuestion question = window->question()->question();
  question.model = "profiles/models/gpt2.json";
  window->question()->setQuestion(question);
  window->session()->show(test::examplePlan(), Session::Origin::Chosen);
  waitForPlan(*window);
  window->startAfresh();
  ASSERT_TRUE(QTest::qWaitFor([&] { return window == nullptr; }));
  MainWindow* next = nullptr;
  for (QWidget* widget : QApplication::topLevelWidgets())
    if (auto* const found = qobject_cast<MainWindow*>(widget); found != nullptr && found->isVisible()) next = found;
  ASSERT_NE(next, nullptr);
  EXPECT_TRUE(next->question()->question().model.empty());
  EXPECT_FALSE(next->session()->wanted().has_value());
  next->close();
}

}  // namespace
}  // namespace gui
