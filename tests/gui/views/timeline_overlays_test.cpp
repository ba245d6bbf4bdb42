#include "gui/views/timeline_overlays.h"

#include <gmock/gmock.h>

#include <QTest>

#include "gui/views/timeline_view.h"
#include "tests/gui/example_plans.h"
#include "tests/gui/views/pictures.h"

namespace gui {
namespace {

TEST(TimelineOverlays, ACounterFillsAsMuchAsItsValue) {
  QImage image(100, 20, QImage::Format_RGB32);
  image.fill(Qt::white);
  QPainter painter(&image);
  const Theme theme = themeOf(lightPalette());
  const Counter counter{.name = "a", .time = {0, 50}, .value = {1, 2}, .most = 2};
  paintCounter(painter, {0, 0, 100, 20}, counter, {{sim::SimTime(0), sim::SimTime(100)}, {100}}, theme);
  painter.end();
  EXPECT_EQ(test::pixelsOf(image, theme.band), 50 * 10);  // half of the first half
}

TEST(TimelineOverlays, KeysFollowAFlow) {
  const SharedPlan simulated = test::exampleSimulation();
  TimelineView view;
  view.resize(900, 500);
  view.setTimeline(std::make_shared<TimelineCore>(simulated->result.timeline), taskNames(simulated->result.timeline.spans));
  view.setExtras({simulated, &simulated->picture.counters}, {simulated, &simulated->picture.flows});
  const Flow flow = simulated->picture.flows[1];
  view.select(view.core().find(flow.from));
  const QImage selected = view.grab().toImage();
  QTest::keyClick(&view, Qt::Key_BracketRight);
  EXPECT_EQ(view.selected(), view.core().find(flow.to));
  QTest::keyClick(&view, Qt::Key_BracketLeft);
  EXPECT_EQ(view.selected(), view.core().find(flow.from));
  const QColor arrow = themeOf(view.palette()).warning;
  EXPECT_GT(test::pixelsOf(selected, arrow), 3);
  view.showAllFlows(true);
  EXPECT_GT(test::pixelsOf(view.grab().toImage(), arrow), test::pixelsOf(selected, arrow));
}

}  // namespace
}  // namespace gui
