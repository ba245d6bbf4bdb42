#include "gui/views/histogram_view.h"

#include <gmock/gmock.h>

#include <QSignalSpy>
#include <QTest>

#include "tests/gui/views/pictures.h"

namespace gui {
namespace {

TEST(HistogramView, BarsAreColoredByRatioAndChosenByAClick) {
  HistogramView view;
  view.resize(600, 240);
  EXPECT_GT(test::pixelsOf(view.grab().toImage(), themeOf(view.palette()).background), 1000);  // empty, and says so
  view.setBins({{0.25, 0.5, 1, sim::SimTime(10)}, {0.5, 1, 0, {}}, {1, 1.05, 5, sim::SimTime(70)}, {2.1, 4, 2, sim::SimTime(20)}});
  const QImage image = view.grab().toImage();
  EXPECT_GT(test::pixelsOf(image, colorOf(lookOf(WorkKind::Alike).color)), 50);
  QSignalSpy chosen(&view, &HistogramView::binChosen);
  QTest::mouseClick(&view, Qt::LeftButton, {}, view.centerOf(3).toPoint());
  EXPECT_EQ(view.chosen(), 3);
  QTest::keyClick(&view, Qt::Key_Left);
  EXPECT_EQ(view.chosen(), 2);
  QTest::keyClick(&view, Qt::Key_Left);
  EXPECT_EQ(view.chosen(), 0);  // past the empty one
  QTest::keyClick(&view, Qt::Key_Escape);
  EXPECT_EQ(chosen.last().at(0).toInt(), -1);
}

}  // namespace
}  // namespace gui
