#include "gui/pages/knobs_panel.h"

#include <gmock/gmock.h>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

TEST(KnobsPanel, StandsAtThePlanWithoutTurningIt) {
  KnobsPanel panel;
  int turns = 0;
  QObject::connect(&panel, &KnobsPanel::edited, [&] { ++turns; });
  EXPECT_FALSE(panel.isEnabled());
  sim::ParallelPlan plan = test::examplePlan();
  plan.bucket_size = sim::Bytes(10 << 20);
  plan.recompute = sim::Recompute::Full;
  panel.setPlan(plan);
  EXPECT_TRUE(panel.isEnabled());
  EXPECT_EQ(qobject_cast<QSpinBox*>(panel.knob("pipeline"))->value(), 2);
  EXPECT_EQ(qobject_cast<QComboBox*>(panel.knob("recompute"))->currentData().toString(), "full");
  EXPECT_EQ(qobject_cast<QLineEdit*>(panel.knob("bucket_size"))->text(), "10 MiB");
  EXPECT_EQ(turns, 0);
}

TEST(KnobsPanel, EveryFieldOfALayoutHasARowAndThoseThatSayNothingHide) {
  KnobsPanel panel;
  sim::ParallelPlan plan = test::examplePlan();
  for (const Knob& knob : allKnobs()) EXPECT_NE(panel.knob(knob.field->name), nullptr) << knob.field->name;
  for (const std::int32_t stage : {2, 3}) {
    plan.zero_stage = stage;
    panel.setPlan(plan);
    for (const char* name : {"layers_per_unit", "reshard_ranks", "prefetch"}) EXPECT_EQ(panel.knob(name)->isHidden(), stage != 3) << name;
  }
}

// However many rows hide, and whatever the panel is given: what the plan takes stands right above the knobs.
TEST(KnobsPanel, WhatThePlanTakesLeavesNoGap) {
  for (const int height : {300, 1400}) {
    QScrollArea area;
    auto* panel = new KnobsPanel;
    area.setWidgetResizable(true);
    area.setWidget(panel);
    area.resize(310, height);
    area.show();
    sim::ParallelPlan plan = test::examplePlan();
    for (const std::int32_t zero : {3, 1}) {
      plan.zero_stage = zero;
      panel->setPlan(plan);
      panel->showEffect(simulatePlan(plan), nullptr);
      QTest::qWait(5);
    }
    const QList<QLabel*> labels = panel->findChildren<QLabel*>();
    const auto effect = std::find_if(labels.begin(), labels.end(), [](const QLabel* label) { return label->text().contains("Step time"); });
    ASSERT_NE(effect, labels.end());
    EXPECT_LE((*effect)->height(), (*effect)->heightForWidth((*effect)->width()) + 4) << "in " << height;
  }
}

TEST(KnobsPanel, ATurnIsTold) {
  KnobsPanel panel;
  panel.setPlan(test::examplePlan());
  sim::ParallelPlan told;
  QObject::connect(&panel, &KnobsPanel::edited, [&](const sim::ParallelPlan& plan) { told = plan; });
  qobject_cast<QSpinBox*>(panel.knob("microbatch"))->setValue(2);
  EXPECT_EQ(told.microbatch_size, 2);
  qobject_cast<QCheckBox*>(panel.knob("offload_optimizer"))->click();
  EXPECT_TRUE(told.offload_optimizer);
  QTest::keyClick(panel.knob("recompute"), Qt::Key_Down);
  EXPECT_EQ(told.recompute, sim::Recompute::Selective);
}

TEST(KnobsPanel, AnAmountIsTypedAndWhatIsNoneIsSaid) {
  KnobsPanel panel;
  panel.setPlan(test::examplePlan());
  auto* line = qobject_cast<QLineEdit*>(panel.knob("bucket_size"));
  sim::ParallelPlan told;
  QString problem;
  QObject::connect(&panel, &KnobsPanel::edited, [&](const sim::ParallelPlan& plan) { told = plan; });
  QObject::connect(&panel, &KnobsPanel::failed, [&](const Message& message) { problem = message.problem; });
  line->setText("40 MiB");
  QTest::keyClick(line, Qt::Key_Return);
  EXPECT_EQ(told.bucket_size, sim::Bytes(40 << 20));
  line->setText("many");
  QTest::keyClick(line, Qt::Key_Return);
  EXPECT_TRUE(problem.contains("many")) << problem.toStdString();
  EXPECT_EQ(line->text(), "25 MiB");
}

TEST(KnobsPanel, ATextThatItsGrammarDoesNotKnowIsSaid) {
  KnobsPanel panel;
  sim::ParallelPlan plan = test::examplePlan();
  plan.recompute = sim::Recompute::Full;
  panel.setPlan(plan);
  auto* line = qobject_cast<QLineEdit*>(panel.knob("recompute_scope"));
  ASSERT_NE(line, nullptr);
  QString problem;
  QObject::connect(&panel, &KnobsPanel::failed, [&](const Message& message) { problem = message.problem; });
  line->setText("everything, twice");
  QTest::keyClick(line, Qt::Key_Return);
  EXPECT_FALSE(problem.isEmpty());
  EXPECT_EQ(line->text().toStdString(), sim::to_text(plan.recompute_scope));
}

// The panel scrolls under the wheel: the plan stays.
TEST(KnobsPanel, TheWheelTurnsNoKnobThatNobodyChose) {
  KnobsPanel panel;
  panel.setPlan(test::examplePlan());
  int turns = 0;
  QObject::connect(&panel, &KnobsPanel::edited, [&] { ++turns; });
  for (const Knob& knob : allKnobs()) {
    QWidget* editor = panel.knob(knob.field->name);
    QWheelEvent wheel({2, 2}, editor->mapToGlobal(QPointF(2, 2)), {}, {0, -120}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QApplication::sendEvent(editor, &wheel);
  }
  EXPECT_EQ(turns, 0);
}

TEST(KnobsPanel, SaysEffectAndRefusal) {
  KnobsPanel panel;
  const SharedPlan simulated = test::exampleSimulation();
  panel.setPlan(simulated->plan);
  panel.showEffect(simulated, simulated);
  panel.showRefusal();
  const auto labels = panel.findChildren<QLabel*>();
  EXPECT_TRUE(std::any_of(labels.begin(), labels.end(), [](const QLabel* label) { return label->text().contains("Not possible"); }));
}

}  // namespace
}  // namespace gui
