#include "gui/views/scatter_view.h"

#include <gmock/gmock.h>

#include <QSignalSpy>
#include <QTest>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

Candidate candidateOf(std::int64_t milliseconds, std::int64_t gibibytes, bool on_front) {
  Candidate candidate;
  candidate.plan.plan = test::examplePlan();
  candidate.plan.result.step_time = sim::SimTime(milliseconds * 1'000'000'000);
  candidate.plan.measure = static_cast<double>(milliseconds) / 1000;
  candidate.plan.result.peak_memory = sim::Bytes(gibibytes << 30);
  candidate.on_front = on_front;
  return candidate;
}

class Scatter : public testing::Test {
 protected:
  Scatter() {
    view_.resize(600, 400);
    view_.setCandidates({candidateOf(10, 60, true), candidateOf(20, 30, true), candidateOf(30, 50, false)},
                        sim::Bytes(std::int64_t{80} << 30));
    view_.grab();
  }
  ScatterView view_;
};

TEST_F(Scatter, FasterIsLeftAndSmallerIsLower) {
  EXPECT_LT(view_.pointOf(0).x(), view_.pointOf(1).x());
  EXPECT_LT(view_.pointOf(0).y(), view_.pointOf(1).y());
}

// Of plans on fewer devices the cheapest may take longest.
TEST_F(Scatter, WhatPlansAreRankedByLiesAcross) {
  std::vector<Candidate> candidates{candidateOf(30, 60, true), candidateOf(10, 30, true)};
  candidates[0].plan.measure = 0.03, candidates[1].plan.measure = 0.08;
  view_.setCandidates(candidates, {}, planner::Objective::Cost);
  view_.grab();
  EXPECT_LT(view_.pointOf(0).x(), view_.pointOf(1).x());
  view_.choose(1);
  EXPECT_THAT(view_.current().toStdString(), testing::HasSubstr("80.0 ms"));
}

TEST_F(Scatter, AClickChooses) {
  QSignalSpy chosen(&view_, &ScatterView::pointChosen);
  QTest::mouseClick(&view_, Qt::LeftButton, {}, view_.pointOf(2).toPoint());
  ASSERT_EQ(chosen.count(), 1);
  EXPECT_EQ(chosen[0][0].toInt(), 2);
  EXPECT_EQ(view_.chosen(), 2);
}

TEST_F(Scatter, ArrowsWalk) {
  QTest::keyClick(&view_, Qt::Key_Right);
  EXPECT_EQ(view_.chosen(), 0);
  QTest::keyClick(&view_, Qt::Key_Left);
  EXPECT_EQ(view_.chosen(), 0);
}

TEST_F(Scatter, IntervalsOfTheFrontAreInsideThePicture) {
  view_.setPoints(
      {{.measure = 1, .memory = sim::Bytes(9), .on_front = true, .interval = {0.5, 3}}, {.measure = 2, .memory = sim::Bytes(9)}}, {});
  view_.choose(0);
  view_.grab();
  const double a_second = view_.pointOf(1).x() - view_.pointOf(0).x();
  EXPECT_LT(view_.pointOf(0).x() + 2 * a_second, 600);
}

TEST_F(Scatter, ZoomsWhereTheMouseIsAndFitsAgain) {
  const QPointF before = view_.pointOf(1), other = view_.pointOf(2);
  QWheelEvent wheel(before, view_.mapToGlobal(before), {}, {0, 240}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
  QApplication::sendEvent(&view_, &wheel);
  view_.grab();
  EXPECT_TRUE(view_.isZoomed());
  EXPECT_NEAR(view_.pointOf(1).x(), before.x(), 0.5);
  EXPECT_GT(view_.pointOf(2).x(), other.x() + 20);
  QTest::mouseDClick(&view_, Qt::LeftButton, {}, {590, 390});
  view_.grab();
  EXPECT_FALSE(view_.isZoomed());
  EXPECT_NEAR(view_.pointOf(2).x(), other.x(), 0.5);
}

// 10, 20 and 30 ms: on a logarithmic axis the first two are farther apart than the others.
TEST_F(Scatter, LogarithmicAxes) {
  view_.setLogarithmic(true);
  view_.grab();
  const double first = view_.pointOf(1).x() - view_.pointOf(0).x(), second = view_.pointOf(2).x() - view_.pointOf(1).x();
  EXPECT_NEAR(first / second, std::log(2) / std::log(1.5), 0.01);
  QTest::mouseClick(&view_, Qt::LeftButton, {}, view_.pointOf(2).toPoint());
  EXPECT_EQ(view_.chosen(), 2);
}

TEST_F(Scatter, WhatIsFilteredAwayCannotBeHit) {
  view_.setVisible({true, true, false});
  QTest::mouseClick(&view_, Qt::LeftButton, {}, view_.pointOf(2).toPoint());
  EXPECT_EQ(view_.chosen(), -1);
}

}  // namespace
}  // namespace gui
