#include "gui/pages/knobs_panel.h"
#include "gui/pages/timeline_page.h"
#include "gui/views/cut_view.h"
#include "gui/views/timeline_view.h"
#include "tests/gui/journeys/journey.h"

namespace gui::test {
namespace {

using EditJourney = Journey;

TEST_F(EditJourney, ATurnedKnobIsSimulatedUndoneAndRedone) {
  planGpt2();
  choosePipelined(4);
  window_.pages()->setCurrentWidget(window_.timelinePage());
  const std::string before = sim::plan_hash(*window_.session()->wanted());
  QComboBox* recompute = window_.knobs()->findChild<QComboBox*>("recompute");
  recompute->setFocus();
  QTest::keyClick(recompute, recompute->currentIndex() == 2 ? Qt::Key_Up : Qt::Key_Down);
  waitForPlan();
  const std::string after = sim::plan_hash(*window_.session()->wanted());
  EXPECT_NE(before, after);
  picture("edit");
  trigger("Ctrl+Z");
  waitForPlan();
  EXPECT_EQ(sim::plan_hash(window_.session()->plan()->plan), before);
  trigger("Ctrl+Shift+Z");
  waitForPlan();
  EXPECT_EQ(sim::plan_hash(window_.session()->plan()->plan), after);
}

// Right after a knob was turned by key the number box has the keyboard: Ctrl+Z is undo all the same.
TEST_F(EditJourney, UndoByKeyFromTheKnobItself) {
  if (QGuiApplication::platformName().startsWith("wayland")) GTEST_SKIP() << "Qt 6.4 activates no windows here, so none has the keyboard";
  planGpt2();
  choosePipelined(4);
  ASSERT_TRUE(QTest::qWaitForWindowActive(&window_));
  const std::string before = sim::plan_hash(*window_.session()->wanted());
  QSpinBox* microbatch = window_.knobs()->findChild<QSpinBox*>("microbatch");
  microbatch->setFocus();
  QTest::keyClick(microbatch, Qt::Key_Up);
  ASSERT_NE(sim::plan_hash(*window_.session()->wanted()), before);
  QTest::keyClick(microbatch, Qt::Key_Z, Qt::ControlModifier);
  EXPECT_EQ(sim::plan_hash(*window_.session()->wanted()), before);
  QTest::keyClick(microbatch, Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
  EXPECT_NE(sim::plan_hash(*window_.session()->wanted()), before);
  waitForAll();
}

TEST_F(EditJourney, AnIllegalTurnSaysWhyAndIsUndone) {
  planGpt2();
  const SharedPlan before = window_.session()->plan();
  window_.knobs()->findChild<QSpinBox*>("tensor")->setValue(3);
  ASSERT_TRUE(QTest::qWaitFor([this] { return window_.message()->isVisible(); }, 60000));
  EXPECT_TRUE(window_.message()->text().contains("not divisible by tensor degree 3")) << window_.message()->text().toStdString();
  EXPECT_FALSE(window_.message()->text().contains("/mesh"));
  picture("edit_refused");
  trigger("Ctrl+Z");
  waitForPlan();
  EXPECT_EQ(sim::plan_hash(window_.session()->plan()->plan), sim::plan_hash(before->plan));
  EXPECT_TRUE(QTest::qWaitFor([this] { return !window_.message()->isVisible(); }, 60000));
}

TEST_F(EditJourney, AStageBoundaryIsDraggedAndTakenBack) {
  planGpt2();
  choosePipelined(4);
  const std::vector<sim::LayerIndex> before = window_.session()->plan()->plan.cut.first;
  CutView* cut = window_.knobs()->cut();
  const QPoint at(static_cast<int>(cut->xOf(before[1])), 15), to(static_cast<int>(cut->xOf(sim::LayerIndex(before[1].value() - 1))), 15);
  QTest::mousePress(cut, Qt::LeftButton, {}, at);
  QTest::mouseMove(cut, to);
  QTest::mouseRelease(cut, Qt::LeftButton, {}, to);
  waitForPlan();
  EXPECT_EQ(window_.session()->plan()->plan.cut.first[1].value(), before[1].value() - 1);
  trigger("Ctrl+Z");
  waitForPlan();
  EXPECT_EQ(window_.session()->plan()->plan.cut.first, before);
}

}  // namespace
}  // namespace gui::test
