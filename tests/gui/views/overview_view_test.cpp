#include "gui/views/overview_view.h"

#include <gmock/gmock.h>

#include <QTest>

#include "gui/views/timeline_view.h"
#include "tests/gui/example_plans.h"
#include "tests/gui/views/pictures.h"

namespace gui {
namespace {

TEST(Overview, ShowsTheWholeStepAndMovesThePartThatIsShown) {
  const SharedPlan plan = test::exampleSimulation();
  TimelineView timeline;
  timeline.resize(1000, 300);
  OverviewView overview(&timeline);
  overview.resize(1000, 34);
  EXPECT_FALSE(overview.grab().isNull());
  timeline.setTimeline(std::make_shared<TimelineCore>(plan->result.timeline), taskNames(plan->result.timeline.spans));
  EXPECT_GT(test::pixelsOf(overview.grab().toImage(), colorOf(lookOf(WorkKind::Forward).color)), 200);
  EXPECT_NEAR(overview.frame(overview.size()).width(), 1000 - TimelineView::kLabels - 2, 1);
  QTest::keyClick(&timeline, Qt::Key_W);
  const QRectF before = overview.frame(overview.size());
  EXPECT_LT(before.width(), 700);
  QTest::mouseClick(&overview, Qt::LeftButton, {}, QPoint(980, 10));
  const QRectF after = overview.frame(overview.size());
  EXPECT_GT(after.left(), before.left());
  EXPECT_NEAR(after.width(), before.width(), 1);
  QTest::keyClick(&overview, Qt::Key_Left);
  EXPECT_LT(overview.frame(overview.size()).left(), after.left());
  EXPECT_TRUE(overview.current().contains(" of "));
}

}  // namespace
}  // namespace gui
