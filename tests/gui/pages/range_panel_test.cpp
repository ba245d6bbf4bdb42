#include "gui/pages/range_panel.h"

#include <gmock/gmock.h>

#include "gui/pages/table_panel.h"
#include "gui/views/duration_view.h"
#include "tests/gui/idle.h"

namespace gui {
namespace {

// outer |0 ---------------- 100|     inner |10 - 30| |40 - 50|
RangeSource nested() {
  SliceRow outer{.stream = "thread", .opens_device = true};
  *outer.slices = {{0}, {100}, {WorkKind::Host}, {0}};
  SliceRow inner;
  *inner.slices = {{10, 40}, {30, 50}, {WorkKind::Host, WorkKind::Host}, {1, 2}};
  return {std::make_shared<TimelineCore>(std::vector<SliceRow>{outer, inner}),
          std::make_shared<std::vector<std::string>>(std::vector<std::string>{"outer", "inner"}),
          std::make_shared<std::vector<std::uint32_t>>(std::vector<std::uint32_t>{0, 1, 1})};
}

std::int64_t slicesIn(const DurationView& view) {
  std::int64_t all = 0;
  for (const DurationBin& bin : view.bins()) all += bin.slices;
  return all;
}

TEST(RangePanel, AddsUpWithSelfTimeAndDrawsTheNameThatIsChosen) {
  RangePanel panel("By name", Nesting::Nested);
  panel.addUp(nested, {sim::SimTime(0), sim::SimTime(100)});
  ASSERT_TRUE(test::waitUntilIdle(panel));
  const Table& table = panel.table()->table();
  ASSERT_EQ(table.headers[3], "Self");
  EXPECT_EQ(table.rows[0][2].sort.toLongLong(), 100);
  EXPECT_EQ(table.rows[0][3].sort.toLongLong(), 70);
  EXPECT_EQ(table.rows[1][3].sort.toLongLong(), 30);
  EXPECT_EQ(slicesIn(*panel.durations()), 3);
  panel.table()->choose(1);
  ASSERT_TRUE(test::waitUntilIdle(panel));
  EXPECT_EQ(panel.durations()->of(), "inner");
  EXPECT_EQ(slicesIn(*panel.durations()), 2);
  panel.showOf({true, false}, "out.*");  // what a search found
  ASSERT_TRUE(test::waitUntilIdle(panel));
  EXPECT_EQ(panel.durations()->of(), "out.*");
  EXPECT_EQ(slicesIn(*panel.durations()), 1);
}

}  // namespace
}  // namespace gui
