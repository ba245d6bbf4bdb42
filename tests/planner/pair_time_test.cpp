#include "planner/pair_time.h"

#include <gtest/gtest.h>

namespace planner {
namespace {

using sim::SimTime;

Stretch open(int work) { return {.work = SimTime(work), .kernels = SimTime(work)}; }
Stretch closed(int work, int exchange) {
  Stretch one = open(work);
  one.rest = one.exchange = SimTime(exchange);
  return one;
}
Stretch holding(Stretch one, int held) {
  one.held = SimTime(held);
  return one;
}

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

// A fifth of the device: the longer one takes what the other keeps from it.
TEST(PairTime, KernelsAndExchangesShareADevice) {
  const Stretch exchange = holding(closed(1, 100), 20);
  EXPECT_EQ(beside(open(200), exchange), SimTime(220)) << "200 + 20";
  EXPECT_EQ(beside(open(50), exchange), SimTime(110)) << "100 + 50 / 5";
  EXPECT_EQ(beside(open(0), exchange), SimTime(100));
  EXPECT_EQ(beside(open(200), closed(1, 100)), SimTime(200)) << "nothing is known of what it holds";
  Stretch waits = open(200);
  waits.kernels = SimTime(150);  // half of the exchange passes while sums of tensor ranks do
  EXPECT_EQ(beside(waits, exchange), SimTime(210));
}

// compute    B 10 | F 20       | B 30     | F 40 |          slowed by 2 of the first exchange, by 4 of the second
// exchange        | B 10  |    | F 20  |
TEST(PairTime, ExchangesSlowTheOtherLane) {
  const std::vector<Stretch> backward{holding(closed(10, 10), 2), open(30)}, forward{holding(closed(20, 20), 4), open(40)};
  const PairTime time = pair_time(backward, forward);
  EXPECT_EQ(time.backward, SimTime(10 + 20 + 30 + 2)) << "its last kernel may run before the second exchange is through";
  EXPECT_EQ(time.all, SimTime(10 + 22 + 34 + 40));
}

// In whatever order: what is exchanged while no kernel runs slows none.
TEST(PairTime, AllTogetherShareTheDevice) {
  const InTurn exchanges{.kernels = SimTime(150), .exchange = SimTime(100), .held = SimTime(20), .share = 0.2};
  EXPECT_EQ(beside(SimTime(150), exchanges), SimTime(170));
  EXPECT_EQ(beside(SimTime(200), exchanges), SimTime(210));
  EXPECT_EQ(beside(SimTime(300), exchanges), SimTime(300));
  EXPECT_EQ(beside(SimTime(60), {.kernels = SimTime(60), .exchange = SimTime(100)}), SimTime(100));
}

TEST(PairTime, TheForwardEndsLast) {
  const PairTime time = pair_time({closed(2, 1), closed(2, 1), open(2)}, {open(7)});
  EXPECT_EQ(time.backward, SimTime(8));
  EXPECT_EQ(time.all, SimTime(15));
}

TEST(PairTime, ALayerGoesOnInTheStretchThatIsOpen) {
  std::vector<Stretch> action;
  append(action, {closed(2, 1), open(3)}, {.work = SimTime(100)});
  append(action, {closed(5, 4), open(6)}, {.work = SimTime(10), .kernels = SimTime(9)});
  ASSERT_EQ(action.size(), 3u);
  EXPECT_EQ(action[1].work, SimTime(3 + 10 + 5)) << "what is computed again, but for the first";
  EXPECT_EQ(action[1].kernels, SimTime(3 + 9 + 5));
  EXPECT_EQ(action[1].exchange, SimTime(4));
  EXPECT_EQ(alone(action), SimTime(2 + 1 + 18 + 4 + 6));
}

}  // namespace
}  // namespace planner
