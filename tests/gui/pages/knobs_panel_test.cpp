#include "gui/pages/knobs_panel.h"

#include <gmock/gmock.h>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

TEST(KnobsPanel, StandsAtThePlanWithoutTurningIt) {
  KnobsPanel panel;
  int turns = 0;
  QObject::connect(&panel, &KnobsPanel::turned, [&] { ++turns; });
  EXPECT_FALSE(panel.isEnabled());
  panel.setPlan(test::examplePlan());
  EXPECT_TRUE(panel.isEnabled());
  EXPECT_EQ(panel.knobs(), knobsOf(test::examplePlan()));
  EXPECT_EQ(turns, 0);
}

TEST(KnobsPanel, LayersOfAUnitAreAKnobOfZero3) {
  KnobsPanel panel;
  sim::ParallelPlan plan = test::examplePlan();
  for (const std::int32_t stage : {2, 3}) {
    plan.zero_stage = stage;
    plan.layers_per_unit = 2;
    panel.setPlan(plan);
    for (const char* name : {"unit", "near"}) EXPECT_EQ(panel.findChild<QSpinBox*>(name)->isEnabled(), stage == 3);
    EXPECT_EQ(panel.knobs().layers_per_unit, 2);
  }
}

TEST(KnobsPanel, WhenGradientsAreReducedIsAKnobWhereSeveralRanksReduceSeveral) {
  KnobsPanel panel;
  sim::ParallelPlan plan = test::examplePlan();
  for (const std::int32_t microbatches : {1, 2}) {
    plan.workload.global_batch = microbatches * plan.mesh.data * plan.microbatch_size;
    plan.accumulation = sim::Accumulation::ReduceEach;
    panel.setPlan(plan);
    EXPECT_EQ(panel.findChild<QComboBox*>("accumulation")->isEnabled(), microbatches > 1 && plan.mesh.copies() > 1);
    EXPECT_EQ(panel.knobs().accumulation, sim::Accumulation::ReduceEach);
  }
}

TEST(KnobsPanel, ATurnIsTold) {
  KnobsPanel panel;
  panel.setPlan(test::examplePlan());
  Knobs told;
  QObject::connect(&panel, &KnobsPanel::turned, [&](const Knobs& knobs) { told = knobs; });
  panel.findChild<QSpinBox*>("microbatch")->setValue(2);
  EXPECT_EQ(told.microbatch, 2);
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
