#include "gui/pages/question_panel.h"

#include <gmock/gmock.h>

namespace gui {
namespace {

TEST(QuestionPanel, HoldsTheQuestion) {
  QuestionPanel panel;
  const PlanQuestion asked{.model = "m.json",
                           .cluster = "a100-80gb-sxm",
                           .devices = 16,
                           .software = "megatron-core",
                           .global_batch = 128,
                           .sequence = 2048,
                           .precision = "fp16",
                           .memory_limit = "70 GiB",
                           .robust = true,
                           .fewer = true,
                           .program = "megatron"};
  panel.setQuestion(asked);
  EXPECT_EQ(panel.question(), asked);
  PlanQuestion of_cost = asked;
  of_cost.robust = false;
  of_cost.objective = planner::Objective::Cost;
  panel.setQuestion(of_cost);
  EXPECT_EQ(panel.question(), of_cost);
  PlanQuestion training = of_cost;
  training.objective = planner::Objective::TimeToTrain;
  training.tokens = 15e12;
  training.mtbf = "5.8 y";
  panel.setQuestion(training);
  EXPECT_EQ(panel.question(), training);
}

TEST(QuestionPanel, AsksAndCancels) {
  QuestionPanel panel;
  int asked = 0, cancelled = 0;
  QObject::connect(&panel, &QuestionPanel::planRequested, [&] { ++asked; });
  QObject::connect(&panel, &QuestionPanel::cancelRequested, [&] { ++cancelled; });
  const QList<QPushButton*> buttons = panel.findChildren<QPushButton*>();
  ASSERT_EQ(buttons.size(), 2);
  buttons[0]->click();
  panel.setRunning(true);
  buttons[0]->click();
  buttons[1]->click();
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(cancelled, 1);
}

TEST(QuestionPanel, ShowsProgress) {
  QuestionPanel panel;
  panel.setRunning(true);
  panel.setProgress({.done = 250, .all = 1000}, 0.25);
  EXPECT_EQ(panel.findChild<QProgressBar*>()->value(), 250);
}

}  // namespace
}  // namespace gui
