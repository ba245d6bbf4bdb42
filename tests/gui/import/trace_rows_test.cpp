#include "gui/import/trace_rows.h"

#include <gmock/gmock.h>

#include <numeric>
#include <random>

namespace gui {
namespace {

TrackRows rowsOfAll(const std::vector<TraceEvent>& events) {
  std::vector<std::uint32_t> all(events.size());
  std::iota(all.begin(), all.end(), 0);
  return rowsOfTrack(events, all, {100}, 1000);
}
TraceEvent event(std::int64_t begin, std::int64_t length) { return {.begin = begin, .length = length}; }

TEST(TraceRows, NestedSlicesGoDeeper) {
  const TrackRows made = rowsOfAll({event(110, 5), event(100, 50), event(112, 2), event(120, 30), event(150, 10)});
  ASSERT_EQ(made.rows.size(), 3u);
  EXPECT_THAT(made.rows[0].slices->start, testing::ElementsAre(0, 50000));
  EXPECT_THAT(made.rows[1].slices->start, testing::ElementsAre(10000, 20000));
  EXPECT_THAT(made.rows[1].slices->end, testing::ElementsAre(15000, 50000));
  EXPECT_THAT(made.rows[2].slices->span, testing::ElementsAre(1002));
  EXPECT_EQ(made.event[2], 2u);
}

TEST(TraceRows, BeginsFindTheirEnds) {
  const TrackRows made = rowsOfAll(
      {event(100, kOpened), event(110, kOpened), event(120, kCloses), event(130, kCloses), event(140, kCloses), event(150, kOpened)});
  EXPECT_EQ(made.malformed, 2);
  ASSERT_EQ(made.rows.size(), 2u);
  EXPECT_THAT(made.rows[0].slices->end, testing::ElementsAre(30000));
  EXPECT_THAT(made.rows[1].slices->end, testing::ElementsAre(20000));
}

TEST(TraceRows, WhatTheClockCannotHoldIsMalformed) {
  const TrackRows made = rowsOfAll({event(100, 10), event(std::int64_t{1} << 62, 10), event(0, 1), event(100, std::int64_t{1} << 62)});
  EXPECT_EQ(made.malformed, 3);
  EXPECT_EQ(made.event.size(), 1u);
}

// Whatever is thrown at it, slices of a row are in order and do not overlap.
TEST(TraceRows, RowsNeverOverlap) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    std::vector<TraceEvent> events;
    for (int at = 0; at < 200; ++at) events.push_back(event(100 + random() % 500, static_cast<std::int64_t>(random() % 60) - 2));
    const TrackRows made = rowsOfAll(events);
    std::size_t slices = 0;
    for (const SliceRow& row : made.rows) {
      slices += row.slices->start.size();
      for (std::size_t at = 1; at < row.slices->start.size(); ++at) ASSERT_LE(row.slices->end[at - 1], row.slices->start[at]);
    }
    EXPECT_EQ(slices, made.event.size());
  }
}

}  // namespace
}  // namespace gui
