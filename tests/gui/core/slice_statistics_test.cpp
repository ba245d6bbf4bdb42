#include "gui/core/slice_statistics.h"

#include <gmock/gmock.h>

namespace gui {
namespace {

TimelineCore twoRows() {
  const SliceRow first{.slices = std::make_shared<SliceColumns>(SliceColumns{{0, 10, 30}, {10, 20, 90}, {3, WorkKind::Host}, {0, 1, 2}})};
  const SliceRow second{.slices = std::make_shared<SliceColumns>(SliceColumns{{5}, {15}, {WorkKind::Host}, {3}})};
  SliceRow again = second;
  again.repeats = true;
  return TimelineCore({first, second, again});
}

TEST(SliceStatistics, AddUpByNameAndCutToTheRange) {
  const std::vector<std::uint32_t> names = {0, 1, 0, 1};
  const auto all = statisticsOf(twoRows(), {sim::SimTime(0), sim::SimTime(100)}, names);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, 0u);
  EXPECT_EQ(all[0].total, sim::SimTime(70));
  EXPECT_EQ(all[0].longest, sim::SimTime(60));
  EXPECT_EQ(all[1].slices, 2);
  EXPECT_EQ(all[1].total, sim::SimTime(20));
  const auto part = statisticsOf(twoRows(), {sim::SimTime(12), sim::SimTime(40)}, names);
  EXPECT_EQ(part[0].total, sim::SimTime(8 + 3));  // of two slices that the range cuts
  EXPECT_EQ(part[1].total, sim::SimTime(10));
}

TEST(SliceStatistics, TheTailIsNotTheLongest) {
  SliceRow row;
  for (std::int64_t at = 1; at <= 200; ++at) {  // lengths 1 ... 200
    row.slices->start.push_back(1000 * at);
    row.slices->end.push_back(1000 * at + at);
    row.slices->kind.push_back(WorkKind::Host);
    row.slices->span.push_back(static_cast<std::uint32_t>(at - 1));
  }
  const auto all = statisticsOf(TimelineCore({row}), {sim::SimTime(0), sim::SimTime(1'000'000)}, std::vector<std::uint32_t>(200));
  EXPECT_EQ(all[0].p99, sim::SimTime(198));
  EXPECT_EQ(all[0].longest, sim::SimTime(200));
  EXPECT_EQ(all[0].shortest, sim::SimTime(1));
}

TEST(SliceStatistics, AnEmptyRangeHasNone) {
  EXPECT_TRUE(statisticsOf(twoRows(), {sim::SimTime(95), sim::SimTime(99)}, {0, 1, 0, 1}).empty());
}

}  // namespace
}  // namespace gui
