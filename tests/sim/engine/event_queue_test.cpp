#include "sim/engine/event_queue.h"

#include <gtest/gtest.h>

namespace sim {
namespace {

TEST(EventQueue, GivesTheEarliestFirst) {
  EventQueue events;
  for (const std::int32_t time : {5, 1, 4, 2, 3}) events.schedule(SimTime(time), time);
  for (std::int32_t time = 1; time <= 5; ++time) {
    EXPECT_EQ(events.next().time, SimTime(time));
    EXPECT_EQ(events.pop().activity, time);
  }
  EXPECT_TRUE(events.empty());
}

TEST(EventQueue, BreaksTiesInOrderOfScheduling) {
  EventQueue events;
  for (std::int32_t activity = 0; activity < 100; ++activity)
    EXPECT_EQ(events.schedule(SimTime(activity % 3), activity), static_cast<std::uint32_t>(activity));
  std::int32_t before = -1;
  for (std::int32_t time = 0; time < 3; ++time, before = -1)
    while (!events.empty() && events.next().time == SimTime(time)) {
      const Event event = events.pop();
      EXPECT_GT(event.activity, before);
      before = event.activity;
    }
  EXPECT_TRUE(events.empty());
}

}  // namespace
}  // namespace sim
