#include <gmock/gmock.h>

#include <QApplication>
#include <QSignalSpy>
#include <QTest>

#include "gui/views/key_places.h"
#include "gui/views/timeline_view.h"
#include "tests/gui/example_plans.h"

namespace gui {
namespace {

class TimelineInput : public testing::Test {
 protected:
  TimelineInput() {
    view_.resize(1000, 400);
    view_.setTimeline(std::make_shared<TimelineCore>(simulated_->result.timeline), taskNames(simulated_->result.timeline.spans));
    view_.grab();
  }
  double xOf(sim::SimTime time) const {
    return TimelineView::kLabels + TimeAxis(view_.shown(), {1000 - TimelineView::kLabels - 2}).toX(time);
  }
  void drag(QPointF from, QPointF to, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QMouseEvent press(QEvent::MouseButtonPress, from, from, Qt::LeftButton, Qt::LeftButton, modifiers);
    QMouseEvent move(QEvent::MouseMove, to, to, Qt::NoButton, Qt::LeftButton, modifiers);
    QMouseEvent release(QEvent::MouseButtonRelease, to, to, Qt::LeftButton, Qt::NoButton, modifiers);
    for (QMouseEvent* event : {&press, &move, &release}) QApplication::sendEvent(&view_, event);
  }
  void wheel(QPoint degrees) {
    QWheelEvent event(QPointF(500, 60), view_.mapToGlobal(QPointF(500, 60)), QPoint(), degrees, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(&view_, &event);
  }
  Slice longest() const {
    const SliceColumns& row = *view_.core().row({0}).slices;
    std::uint32_t best = 0;
    for (std::uint32_t at = 0; at < row.start.size(); ++at)
      if (row.end[at] - row.start[at] > row.end[best] - row.start[best]) best = at;
    return {{0}, best};
  }
  SharedPlan simulated_ = test::exampleSimulation();
  TimelineView view_;
};

TEST_F(TimelineInput, KeysZoomAndMove) {
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

TEST_F(TimelineInput, AClickSelectsTheSliceUnderIt) {
  QSignalSpy selected(&view_, &TimelineView::sliceSelected);
  const Slice longest{{0}, 2};
  QTest::mouseClick(&view_, Qt::LeftButton, {}, view_.centerOf(longest).toPoint());
  ASSERT_TRUE(view_.selected().has_value());
  EXPECT_EQ(view_.selected()->row, RowIndex{0});
  EXPECT_EQ(selected.count(), 1);
}

TEST_F(TimelineInput, StepsToNeighborsAndFits) {
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

TEST_F(TimelineInput, TheWheelZoomsAboutTheCursor) {
  const TimeRange all = view_.shown();
  wheel({0, 240});
  EXPECT_NEAR(static_cast<double>(view_.shown().length().count()), 0.64 * static_cast<double>(all.length().count()),
              1e-3 * static_cast<double>(all.length().count()));
}

TEST_F(TimelineInput, AWheelToTheSideMoves) {
  QTest::keyClick(&view_, Qt::Key_W);
  const TimeRange before = view_.shown();
  wheel({-120, 0});
  EXPECT_EQ(view_.shown().length(), before.length());
  EXPECT_GT(view_.shown().begin, before.begin);
}

// A few pixels beside both edges of a slice: exactly the slice is measured. Far from any edge: the moments under the cursor.
TEST_F(TimelineInput, MeasuringSnapsToEdges) {
  QSignalSpy measured(&view_, &TimelineView::rangeMeasured);
  const Slice slice = longest();
  const TimeRange extent = view_.core().extent(slice);
  ASSERT_GT(xOf(extent.end) - xOf(extent.begin), 24);
  const double y = view_.centerOf(slice).y();
  drag({xOf(extent.begin) + 3, y}, {xOf(extent.end) - 3, y});
  ASSERT_EQ(measured.count(), 1);
  EXPECT_EQ(view_.measured(), extent);
  drag({xOf(extent.begin) + 3, 10}, {xOf(extent.end) - 3, 10});  // in the ruler there is nothing to snap to
  EXPECT_GT(view_.measured()->begin, extent.begin);
  EXPECT_LT(view_.measured()->end, extent.end);
}

TEST_F(TimelineInput, RMeasuresTheSliceAndEscapeLetsGo) {
  QSignalSpy measured(&view_, &TimelineView::rangeMeasured);
  QTest::keyClick(&view_, Qt::Key_R);
  EXPECT_EQ(measured.count(), 0);  // nothing is selected
  const Slice slice{{0}, 1};
  view_.select(slice);
  QTest::keyClick(&view_, Qt::Key_R);
  EXPECT_EQ(view_.measured(), view_.core().extent(slice));
  QTest::keyClick(&view_, Qt::Key_Escape);
  EXPECT_FALSE(view_.measured());
  EXPECT_TRUE(view_.selected());
  EXPECT_EQ(measured.count(), 2);
  QTest::keyClick(&view_, Qt::Key_Escape);
  EXPECT_FALSE(view_.selected());
}

TEST_F(TimelineInput, DraggingWithShiftMoves) {
  QTest::keyClick(&view_, Qt::Key_W);
  const TimeRange before = view_.shown();
  drag({600, 100}, {500, 100}, Qt::ShiftModifier);
  EXPECT_GT(view_.shown().begin, before.begin);
  EXPECT_FALSE(view_.measured());
}

TEST_F(TimelineInput, ATipNamesTheSliceAndSaysHowManyAreFolded) {
  const Slice slice = longest();
  EXPECT_TRUE(view_.tipAt(view_.centerOf(slice)).contains(QStringLiteral("stage 0 \u00d72 compute")))
      << view_.tipAt(view_.centerOf(slice)).toStdString();
  EXPECT_FALSE(view_.tipAt(view_.centerOf(slice)).contains("slices"));
  EXPECT_TRUE(view_.tipAt({10, 60}).isEmpty());
  SliceRow row{.device = "d", .stream = "s", .opens_device = true};
  for (std::int64_t at = 0; at < 100'000; ++at) {
    row.slices->start.push_back(10 * at);
    row.slices->end.push_back(10 * at + 9);
    row.slices->kind.push_back(WorkKind::Host);
    row.slices->span.push_back(static_cast<std::uint32_t>(at));
  }
  view_.setTimeline(std::make_shared<TimelineCore>(std::vector<SliceRow>{row}), [](std::uint32_t) { return std::string("one"); });
  const Slice middle{{0}, 50'000};
  EXPECT_TRUE(view_.tipAt(view_.centerOf(middle)).contains("slices that lie here")) << view_.tipAt(view_.centerOf(middle)).toStdString();
}

// The key at the place of W zooms although it says Z, where a person wants that.
TEST_F(TimelineInput, KeysByTheirPlace) {
  const TimeRange all = view_.shown();
  const auto press = [this] {
    QKeyEvent z(QEvent::KeyPress, Qt::Key_Z, Qt::NoModifier, 25, 0, 0, "z");
    QApplication::sendEvent(&view_, &z);
  };
  press();
  EXPECT_EQ(view_.shown(), all);
  chooseKeyPlaces(true);
  press();
  EXPECT_LT(view_.shown().length(), all.length());
  chooseKeyPlaces(false);
}

}  // namespace
}  // namespace gui
