#include "gui/views/accessible_view.h"

#include <gmock/gmock.h>

#include <QAccessible>
#include <QTestAccessibility>

#include "gui/views/histogram_view.h"
#include "gui/views/line_view.h"
#include "gui/views/memory_view.h"
#include "gui/views/timeline_view.h"
#include "tests/gui/example_plans.h"

namespace gui {
namespace {

class Accessible : public testing::Test {
 protected:
  Accessible() {
    installAccessibleViews();
    QTestAccessibility::initialize();
  }
  ~Accessible() override { QTestAccessibility::cleanup(); }
};

TEST_F(Accessible, TheTimelineIsAListWhoseFocusIsTheCurrentSlice) {
  const SharedPlan plan = test::exampleSimulation();
  TimelineView view;
  view.resize(800, 300);
  view.setTimeline(std::make_shared<TimelineCore>(plan->result.timeline), taskNames(plan->result.timeline.spans));
  QAccessibleInterface* list = QAccessible::queryAccessibleInterface(&view);
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->role(), QAccessible::List);
  EXPECT_EQ(list->text(QAccessible::Name), "Timeline");
  EXPECT_EQ(list->childCount(), 0);
  QTestAccessibility::clearEvents();
  view.select(Slice{{0}, 1});
  ASSERT_EQ(list->childCount(), 1);
  QAccessibleInterface* slice = list->focusChild();
  ASSERT_NE(slice, nullptr);
  EXPECT_EQ(slice->role(), QAccessible::ListItem);
  EXPECT_EQ(slice->parent(), list);
  EXPECT_TRUE(slice->state().selected);
  EXPECT_THAT(slice->text(QAccessible::Name).toStdString(),
              testing::MatchesRegex("L1 attention fwd, mb 0, stage 0 .* compute: .* us, at .*"));
  EXPECT_EQ(list->text(QAccessible::Value), slice->text(QAccessible::Name));
  if (!QAccessible::isActive()) return;  // offscreen nobody listens, and Qt sends nothing
  QAccessibleEvent focus(&view, QAccessible::Focus);
  focus.setChild(0);
  EXPECT_TRUE(QTestAccessibility::containsEvent(&focus));
  QAccessibleValueChangeEvent value(&view, view.current());
  EXPECT_TRUE(QTestAccessibility::containsEvent(&value));
}

TEST_F(Accessible, ChartsSayWhatIsChosen) {
  const SharedPlan plan = test::exampleSimulation();
  MemoryView memory;
  memory.resize(400, 300);
  memory.setPicture({.curve = MemoryCurve(plan->result.timeline, sim::DeviceId(0)),
                     .all = {sim::SimTime(0), plan->result.step_time},
                     .limit = sim::Bytes(1 << 30)});
  QAccessibleInterface* chart = QAccessible::queryAccessibleInterface(&memory);
  EXPECT_EQ(chart->role(), QAccessible::Chart);
  memory.chooseMoment(sim::SimTime(0));
  EXPECT_TRUE(chart->text(QAccessible::Value).contains("MiB at ")) << chart->text(QAccessible::Value).toStdString();
  LineView loss("Loss");
  loss.setPoints({{1, 4.5}, {2, 3.25}});
  EXPECT_EQ(QAccessible::queryAccessibleInterface(&loss)->text(QAccessible::Name), "Loss");
  EXPECT_EQ(QAccessible::queryAccessibleInterface(&loss)->text(QAccessible::Value), "3.25 after step 2");
  HistogramView histogram;
  histogram.setBins({{1, 2, 7, sim::SimTime(3'000'000)}});
  histogram.choose(0);
  EXPECT_TRUE(QAccessible::queryAccessibleInterface(&histogram)->text(QAccessible::Value).contains("pairs 7"));
}

}  // namespace
}  // namespace gui
