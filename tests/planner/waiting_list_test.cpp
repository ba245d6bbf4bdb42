#include "planner/waiting_list.h"

#include <gtest/gtest.h>

namespace planner {
namespace {

std::vector<std::int64_t> order_of(double gap, const std::vector<Outcome>& bounds) {
  WaitingList list(gap);
  for (const Outcome& bound : bounds) list.push(bound);
  std::vector<std::int64_t> order;
  while (!list.empty()) {
    EXPECT_EQ(list.next(), list.next());
    order.push_back(list.pop());
  }
  return order;
}

Outcome bound(std::int64_t time, std::int64_t memory, std::int64_t index) { return {sim::SimTime(time), sim::Bytes(memory), index}; }

const std::vector<Outcome> kBounds{bound(1'000'000, 9, 0), bound(1'000'001, 5, 1), bound(2'000'000, 1, 2), bound(1'000'000, 9, 3)};

TEST(WaitingList, TheFastestComesFirst) { EXPECT_EQ(order_of(0, kBounds), (std::vector<std::int64_t>{0, 3, 1, 2})); }

TEST(WaitingList, WithinTheGapTheLeanestDoes) { EXPECT_EQ(order_of(0.01, kBounds), (std::vector<std::int64_t>{1, 0, 3, 2})); }

}  // namespace
}  // namespace planner
