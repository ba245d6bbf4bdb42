#include <gmock/gmock.h>

#include <QComboBox>
#include <QTest>

#include "gui/main_window.h"
#include "gui/message_bar.h"
#include "gui/pages/knobs_panel.h"
#include "gui/pages/question_panel.h"
#include "gui/pages/timeline_page.h"
#include "gui/views/timeline_view.h"
#include "tests/gui/example_plans.h"

namespace gui {
namespace {

QString workFile() { return QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) + "/work.json"; }

class Work : public testing::Test {
 protected:
  Work() { QFile::remove(workFile()); }
  ~Work() override { QFile::remove(workFile()); }
  static void waitForPlan(MainWindow& window) {
    ASSERT_TRUE(QTest::qWaitFor(
        [&] {
          return window.session()->plan() && sim::plan_hash(window.session()->plan()->plan) == sim::plan_hash(*window.session()->wanted());
        },
        10000));
  }
  static void turn(MainWindow& window, std::int64_t microbatch) {
    Knobs knobs = knobsOf(*window.session()->wanted());
    knobs.microbatch = microbatch;
    Q_EMIT window.knobs()->turned(knobs);
    waitForPlan(window);
  }
};

TEST_F(Work, QuestionPlansUndoAndViewComeBack) {
  {
    MainWindow window;
    window.restoreWork();
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
    window.timelinePage()->grouping()->setCurrentIndex(1);
    window.timelinePage()->view()->setMarks({{sim::SimTime(1000), "here"}});
    window.timelinePage()->view()->setShown({sim::SimTime(10), sim::SimTime(2000)});
    window.keepWork();
  }
  MainWindow later;
  later.restoreWork();
  EXPECT_EQ(later.question()->question().model, "profiles/models/gpt2.json");
  EXPECT_EQ(later.question()->question().global_batch, 24);
  waitForPlan(later);
  EXPECT_EQ(later.session()->plan()->plan.microbatch_size, 2);
  EXPECT_EQ(later.timelinePage()->grouping()->currentIndex(), 1);
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

TEST_F(Work, WhatIsBrokenIsSaidAndSetAside) {
  QDir().mkpath(QFileInfo(workFile()).path());
  QFile file(workFile());
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("{\"format\": \"meshwright.wor");
  file.close();
  MainWindow window;
  window.restoreWork();
  EXPECT_TRUE(window.message()->text().contains("could not be restored")) << window.message()->text().toStdString();
  EXPECT_FALSE(QFile::exists(workFile()));
  EXPECT_TRUE(QFile::exists(workFile() + ".broken"));
  QFile::remove(workFile() + ".broken");
}

TEST_F(Work, StartedAfreshItRemembersNothing) {
  QPointer<MainWindow> window = new MainWindow;
  window->setAttribute(Qt::WA_DeleteOnClose);
  window->show();
  window->restoreWork();
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
