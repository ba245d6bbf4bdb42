// Two windows that follow each other, with a display that goes away between them: displays_test.py takes it. Alone both are skipped.
#include "gui/pages/knobs_panel.h"
#include "gui/pages/run_page.h"
#include "gui/views/application.h"
#include "tests/gui/example_plans.h"
#include "tests/gui/journeys/journey.h"

namespace gui::test {
namespace {

class LostDisplay : public Journey {
 protected:
  void SetUp() override {
    if (home_.isEmpty()) GTEST_SKIP() << "what outlives a display is tested by displays_test.py";
  }
  // A stand-in for `meshwright run` that goes on for a while.
  QString standIn() const {
    QFile file(home_ + "/stand_in");
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(
        "#!/bin/sh\nfor last; do :; done\nmkdir -p \"$last\"\nstep=0\nwhile [ $step -lt 600 ]; do\n  step=$((step + 1))\n"
        "  echo \"{\\\"step\\\": $step, \\\"loss\\\": 3, \\\"tokens_per_second\\\": 9000}\" >> \"$last/metrics.ndjson\"\n  sleep "
        "0.1\ndone\n");
    file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    return file.fileName();
  }
  RunProcess* run() { return window_.runPage()->process(); }
  const QString home_ = qEnvironmentVariable("MESHWRIGHT_TEST_HOME");
};

TEST_F(LostDisplay, WorksUntilItGoes) {
  const DisplayGuard guard([this] { window_.work()->keepNow(); });
  window_.work()->restore();
  PlanQuestion question = window_.question()->question();
  question.model = "profiles/models/gpt2.json";
  question.global_batch = 24;
  window_.question()->setQuestion(question);
  window_.session()->show(runnablePlan(), Session::Origin::Chosen);
  waitForPlan();
  Q_EMIT window_.knobs()->edited(turned(*window_.session()->wanted(), {"microbatch", std::int64_t{2}}));
  waitForPlan();
  run()->setProgram(standIn());
  window_.runPage()->setRequest({.data = "tokens.bin", .folder = home_ + "/run", .steps = 600});
  window_.runPage()->start();
  ASSERT_TRUE(QTest::qWaitFor([this] { return run()->steps().size() >= 2; }, 60000));
  std::puts("ready");
  std::fflush(stdout);
  QTest::qWait(60000);
  FAIL() << "the display is still there";
}

TEST_F(LostDisplay, ComesBack) {
  window_.restoreLast();
  window_.work()->restore();
  EXPECT_EQ(window_.question()->question().model, "profiles/models/gpt2.json");
  EXPECT_EQ(window_.question()->question().global_batch, 24);
  waitForPlan();
  EXPECT_EQ(window_.session()->plan()->plan.microbatch_size, 2);
  ASSERT_TRUE(window_.undoStack()->canUndo());
  window_.undoStack()->undo();
  waitForPlan();
  EXPECT_EQ(window_.session()->plan()->plan.microbatch_size, 1);
  EXPECT_TRUE(run()->isAlive());
  EXPECT_EQ(run()->folder(), QFileInfo(home_ + "/run").absoluteFilePath());
  EXPECT_TRUE(QTest::qWaitFor([this] { return run()->steps().size() >= 3; }, 60000));
  EXPECT_TRUE(window_.message()->isHidden()) << window_.message()->text().toStdString();
}

}  // namespace
}  // namespace gui::test
