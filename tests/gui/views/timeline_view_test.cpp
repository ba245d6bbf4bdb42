#include "gui/views/timeline_view.h"

#include <gmock/gmock.h>

#include <QSignalSpy>
#include <QTest>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

class Timeline : public testing::Test {
 protected:
  Timeline() {
    view_.resize(1000, 400);
    view_.setTimeline(std::make_shared<TimelineCore>(simulated_->result.timeline), taskNames(simulated_->result.timeline.spans));
    view_.grab();
  }
  SharedPlan simulated_ = test::exampleSimulation();
  TimelineView view_;
};

TEST_F(Timeline, KeysZoomAndMove) {
  const TimeRange all = view_.shown();
  QTest::keyClick(&view_, Qt::Key_W);
  const TimeRange closer = view_.shown();
  EXPECT_LT(closer.length(), all.length());
  QTest::keyClick(&view_, Qt::Key_D);
  EXPECT_GT(view_.shown().begin, closer.begin);
  QTest::keyClick(&view_, Qt::Key_A);
  EXPECT_EQ(view_.shown().begin, closer.begin);
  QTest::keyClick(&view_, Qt::Key_0);
  EXPECT_EQ(view_.shown(), all);
}

TEST_F(Timeline, AClickSelectsTheSliceUnderIt) {
  QSignalSpy selected(&view_, &TimelineView::sliceSelected);
  const Slice longest{{0}, 2};
  QTest::mouseClick(&view_, Qt::LeftButton, {}, view_.centerOf(longest).toPoint());
  ASSERT_TRUE(view_.selected().has_value());
  EXPECT_EQ(view_.selected()->row, RowIndex{0});
  EXPECT_EQ(selected.count(), 1);
}

TEST_F(Timeline, StepsToNeighborsAndFits) {
  view_.select(Slice{{0}, 0});
  QTest::keyClick(&view_, Qt::Key_Period);
  EXPECT_EQ(view_.selected(), (Slice{{0}, 1}));
  QTest::keyClick(&view_, Qt::Key_Comma);
  EXPECT_EQ(view_.selected(), (Slice{{0}, 0}));
  const TimeRange all = view_.shown();
  QTest::keyClick(&view_, Qt::Key_F);
  EXPECT_LT(view_.shown().length(), all.length());
  QTest::keyClick(&view_, Qt::Key_F);
  EXPECT_EQ(view_.shown(), all);
}

TEST_F(Timeline, TheWheelZoomsAboutTheCursor) {
  const TimeRange all = view_.shown();
  QWheelEvent wheel(QPointF(500, 60), view_.mapToGlobal(QPointF(500, 60)), QPoint(), QPoint(0, 240), Qt::NoButton, Qt::NoModifier,
                    Qt::NoScrollPhase, false);
  QApplication::sendEvent(&view_, &wheel);
  EXPECT_NEAR(static_cast<double>(view_.shown().length().count()), 0.64 * static_cast<double>(all.length().count()),
              1e-3 * static_cast<double>(all.length().count()));
}

TEST_F(Timeline, AGhostBehindTheEndWidensTheWhole) {
  view_.setGhost(view_.core().range().end * 2);
  EXPECT_GT(view_.shown().end, view_.core().range().end * 2);
}

}  // namespace
}  // namespace gui
