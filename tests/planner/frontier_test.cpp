#include "planner/frontier.h"

#include <gtest/gtest.h>

namespace planner {
namespace {

Outcome outcome(std::int64_t time, std::int64_t memory, std::int64_t index) { return {sim::SimTime(time), sim::Bytes(memory), index}; }

TEST(Frontier, RanksByTimeThenMemoryThenIndex) {
  Frontier frontier(3);
  for (const Outcome& each : {outcome(5, 1, 0), outcome(4, 9, 1), outcome(4, 8, 3), outcome(4, 8, 2)}) frontier.add(each);
  EXPECT_EQ(frontier.ranked(), (std::vector{outcome(4, 8, 2), outcome(4, 8, 3), outcome(4, 9, 1)}));
}

TEST(Frontier, KeepsTheParetoFront) {
  Frontier frontier(1);
  for (const Outcome& each : {outcome(5, 5, 0), outcome(4, 9, 1), outcome(6, 5, 2), outcome(7, 1, 3), outcome(4, 9, 4)}) frontier.add(each);
  EXPECT_EQ(frontier.pareto(), (std::vector{outcome(4, 9, 1), outcome(5, 5, 0), outcome(7, 1, 3)}));
}

TEST(Frontier, LetsInWhatMayStillMatter) {
  Frontier frontier(1);
  EXPECT_TRUE(frontier.can_enter(outcome(100, 100, 9)));  // nothing is known yet
  frontier.add(outcome(10, 10, 5));
  EXPECT_TRUE(frontier.can_enter(outcome(9, 99, 9)));  // may be the best
  EXPECT_TRUE(frontier.can_enter(outcome(11, 9, 9)));  // may be on the front
  EXPECT_FALSE(frontier.can_enter(outcome(11, 10, 9)));
  EXPECT_FALSE(frontier.can_enter(outcome(10, 10, 9)));  // equal at best, and later
  EXPECT_TRUE(frontier.can_enter(outcome(10, 10, 4)));   // equal at best, and earlier
}

TEST(Frontier, WithoutTheFrontOnlyRanksMatter) {
  Frontier frontier(1, {.gap = 0, .holds_for_front = false});
  EXPECT_TRUE(frontier.can_enter(outcome(100, 100, 9)));  // nothing is known yet
  frontier.add(outcome(10, 10, 5));
  EXPECT_TRUE(frontier.can_enter(outcome(9, 99, 9)));   // may be the best
  EXPECT_FALSE(frontier.can_enter(outcome(11, 9, 9)));  // smaller, but slower
}

TEST(Frontier, NothingEntersAboveTheCeiling) {
  const Frontier frontier(2, {.gap = 0, .holds_for_front = false, .ceiling = sim::SimTime(10)});
  EXPECT_TRUE(frontier.can_enter(outcome(9, 99, 9)));
  EXPECT_FALSE(frontier.can_enter(outcome(10, 1, 1)));
}

TEST(Frontier, WaitsForAsManyPlansAsAreAskedFor) {
  Frontier frontier(2);
  frontier.add(outcome(10, 10, 5));
  EXPECT_TRUE(frontier.can_enter(outcome(11, 11, 9)));
}

}  // namespace
}  // namespace planner
