#include "planner/pair_time.h"

#include <gtest/gtest.h>

namespace planner {
namespace {

using sim::SimTime;

Stretch closed(int work, int exchange) { return {.work = SimTime(work), .rest = SimTime(exchange), .exchange = SimTime(exchange)}; }
Stretch open(int work) { return {.work = SimTime(work)}; }

// compute    B 2 | F 3     | B 4       | F 5 |
// exchange       | B 2 |   | F 3  |
TEST(PairTime, OneComputesWhileTheOtherExchanges) {
  const std::vector<Stretch> backward{closed(2, 2), open(4)}, forward{closed(3, 3), open(5)};
  const PairTime time = pair_time(backward, forward);
  EXPECT_EQ(time.backward, SimTime(9));
  EXPECT_EQ(time.all, SimTime(14));
  EXPECT_EQ(alone(backward), SimTime(8));
  EXPECT_EQ(alone(forward), SimTime(11));
}

TEST(PairTime, WhatIsNotHiddenIsWaitedFor) {
  const std::vector<Stretch> backward{closed(2, 20), open(4)}, forward{closed(3, 30), open(5)};
  const PairTime time = pair_time(backward, forward);
  EXPECT_EQ(time.backward, SimTime(26)) << "2 + 20 + 4";
  EXPECT_EQ(time.all, SimTime(57)) << "exchanges follow each other: 2 + 20 + 30 + 5";
}

TEST(PairTime, TheForwardEndsLast) {
  const PairTime time = pair_time({closed(2, 1), closed(2, 1), open(2)}, {open(7)});
  EXPECT_EQ(time.backward, SimTime(8));
  EXPECT_EQ(time.all, SimTime(15));
}

TEST(PairTime, ALayerGoesOnInTheStretchThatIsOpen) {
  std::vector<Stretch> action;
  append(action, {closed(2, 1), open(3)}, SimTime(100));
  append(action, {closed(5, 4), open(6)}, SimTime(10));
  ASSERT_EQ(action.size(), 3u);
  EXPECT_EQ(action[1].work, SimTime(3 + 10 + 5)) << "what is computed again, but for the first";
  EXPECT_EQ(action[1].exchange, SimTime(4));
  EXPECT_EQ(alone(action), SimTime(2 + 1 + 18 + 4 + 6));
}

}  // namespace
}  // namespace planner
