// A window of a fixed size, and the steps that journeys share. A picture is saved where MESHWRIGHT_SCREENSHOTS says; else nowhere.
#pragma once

#include <gmock/gmock.h>

#include <QTest>

#include "gui/main_window.h"
#include "gui/message_bar.h"
#include "gui/plan_page.h"
#include "gui/question_panel.h"

namespace gui::test {

class Journey : public testing::Test {
 protected:
  Journey() {
    window_.resize(1440, 900);
    window_.show();
    QTest::qWait(0);
  }

  // A search whose answer fills every page: 16 GPUs, a model that needs some thought.
  void planGpt2() {
    window_.open(QFileInfo("profiles/models/gpt2-xl.json").absoluteFilePath());
    PlanQuestion question = window_.question()->question();
    question.cluster = "a100-80gb-sxm";
    question.devices = 16;
    question.global_batch = 64;
    question.sequence = 1024;
    window_.question()->setQuestion(question);
    window_.plan();
    ASSERT_TRUE(QTest::qWaitFor([this] { return !window_.planPage()->candidates().empty(); }, 60000));
    waitForPlan();
  }
  void waitForPlan() {
    ASSERT_TRUE(QTest::qWaitFor(
        [this] {
          return window_.session()->plan() &&
                 sim::plan_hash(window_.session()->plan()->plan) == sim::plan_hash(*window_.session()->wanted());
        },
        20000));
  }
  // The best plan of at least so many pipeline stages: a picture with something to see.
  void choosePipelined(std::int32_t stages);

  void key(QWidget* widget, Qt::Key key) { QTest::keyClick(widget, key); }
  void trigger(const QString& shortcut) {
    for (QAction* action : window_.actions().all())
      if (action->shortcut() == QKeySequence(shortcut)) return action->trigger();
    FAIL() << "no action with " << shortcut.toStdString();
  }
  void picture(const QString& name) {
    const QString folder = qEnvironmentVariable("MESHWRIGHT_SCREENSHOTS");
    if (folder.isEmpty()) return;
    QTest::qWait(30);  // until the layout has settled
    EXPECT_TRUE(window_.grab().save(folder + '/' + name + ".png"));
  }

  MainWindow window_;
};

inline void Journey::choosePipelined(std::int32_t stages) {
  const std::vector<Candidate>& all = window_.planPage()->candidates();
  sim::ParallelPlan plan = all.front().plan.plan;
  for (const Candidate& candidate : all)
    if (candidate.plan.plan.mesh.pipeline >= stages) {
      plan = candidate.plan.plan;
      break;
    }
  if (plan.mesh.pipeline < stages) {
    Knobs knobs = knobsOf(plan);
    knobs.pipeline = stages;
    knobs.schedule = "1f1b";
    knobs.microbatch = 1;
    knobs.zero_stage = 1;
    plan = turned(plan, knobs);
  }
  window_.session()->show(plan, Session::Origin::Chosen);
  waitForPlan();
}

}  // namespace gui::test
