#include "gui/core/time_axis.h"

#include <gmock/gmock.h>

namespace gui {
namespace {

using sim::SimTime;
constexpr TimeRange kAll{SimTime(0), SimTime(1'000'000'000)};  // a millisecond

TEST(TimeAxis, ThereAndBack) {
  const TimeAxis axis(kAll, {1000});
  EXPECT_DOUBLE_EQ(axis.toX(SimTime(500'000'000)), 500);
  EXPECT_EQ(axis.toTime(500), SimTime(500'000'000));
}

TEST(TimeAxis, TicksAreRoundAndFarEnoughApart) {
  const std::vector<Tick> ticks = TimeAxis(kAll, {1000}).ticks({100});
  ASSERT_EQ(ticks.size(), 11u);
  EXPECT_EQ(ticks[1].time, SimTime(100'000'000));
  EXPECT_EQ(ticks[1].label, "0.1 ms");
}

TEST(TimeAxis, LabelsOfNeighborsDifferWhenZoomedIn) {
  const std::vector<Tick> ticks = TimeAxis({SimTime(999'990'000), SimTime(1'000'000'000)}, {1000}).ticks({100});
  ASSERT_GT(ticks.size(), 5u);
  for (std::size_t at = 1; at < ticks.size(); ++at) EXPECT_NE(ticks[at - 1].label, ticks[at].label);
}

TEST(TimeAxis, ZoomKeepsTheMomentUnderTheCursor) {
  const TimeRange closer = zoomed(kAll, {SimTime(250'000'000), 0.5}, kAll);
  EXPECT_EQ(closer.length(), SimTime(500'000'000));
  EXPECT_DOUBLE_EQ(TimeAxis(closer, {1000}).toX(SimTime(250'000'000)), 250);
}

TEST(TimeAxis, ZoomEndsAtTheWholeAndAtANanosecond) {
  EXPECT_EQ(zoomed(kAll, {SimTime(5), 1000}, kAll), kAll);
  EXPECT_EQ(zoomed(kAll, {SimTime(5), 1e-12}, kAll).length(), kShortestRange);
}

TEST(TimeAxis, PanningStopsAtTheEnds) {
  const TimeRange half{SimTime(0), SimTime(500'000'000)};
  EXPECT_EQ(panned(half, SimTime(-7), kAll), half);
  EXPECT_EQ(panned(half, SimTime(800'000'000), kAll).end, kAll.end);
}

TEST(TimeAxis, AroundLeavesRoomAndStaysInside) {
  const TimeRange room = around({SimTime(100'000), SimTime(300'000)}, kAll);
  EXPECT_EQ(room.begin, SimTime(0));
  EXPECT_EQ(room.end, SimTime(400'000));
}

TEST(TimeAxis, AnEmptyRangeIsNoDivisionByZero) { EXPECT_EQ(TimeAxis({}, {0}).width().value, 1); }

TEST(TimeAxis, AMomentHasTheDigitsThatALengthNeeds) {
  EXPECT_EQ(momentText({sim::SimTime(1'912'140'000'000), sim::SimTime(5'500'000'000)}), "1.91214 s");
  EXPECT_EQ(momentText({sim::SimTime(1'912'140'000'000), sim::SimTime(100'000'000'000)}), "1.912 s");
  EXPECT_EQ(momentText({sim::SimTime(2'500'000), sim::SimTime(1'000'000)}), "2.50 us");
  EXPECT_EQ(momentText({sim::SimTime(0), sim::SimTime(1'000'000)}), "0 ps");
}

}  // namespace
}  // namespace gui
