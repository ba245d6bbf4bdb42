#include "sim/timeline/intervals.h"

#include <gtest/gtest.h>

namespace sim {
namespace {

Intervals::Interval from_to(std::int64_t start, std::int64_t end) { return {SimTime(start), SimTime(end)}; }

TEST(Intervals, CountEachMomentOnce) {
  EXPECT_EQ(Intervals({from_to(10, 20), from_to(0, 5), from_to(12, 13), from_to(19, 25), from_to(25, 26), from_to(30, 30)}).length(),
            SimTime(21));
  EXPECT_EQ(Intervals({}).length(), SimTime(0));
}

TEST(Intervals, CommonPart) {
  const Intervals a({from_to(0, 10), from_to(20, 30)}), b({from_to(5, 22), from_to(25, 26), from_to(29, 100)});
  EXPECT_EQ(a.length_within(b), SimTime(5 + 2 + 1 + 1));
  EXPECT_EQ(b.length_within(a), a.length_within(b));
  EXPECT_EQ(a.length_within(a), a.length());
  EXPECT_EQ(a.length_within(Intervals({})), SimTime(0));
}

TEST(Intervals, WithoutAnother) {
  const Intervals a({from_to(0, 10), from_to(20, 30)}), b({from_to(5, 22), from_to(25, 26), from_to(29, 100)});
  EXPECT_EQ(a.without(b).length(), a.length() - a.length_within(b));
  EXPECT_EQ(a.without(b).length_within(b), SimTime(0));
  EXPECT_EQ(a.without(b).length_within(a), a.without(b).length());
  EXPECT_EQ(a.without(a).length(), SimTime(0));
  EXPECT_EQ(a.without(Intervals({})).length(), a.length());
  EXPECT_EQ(Intervals({from_to(0, 100)}).without(a).length(), SimTime(80));
}

}  // namespace
}  // namespace sim
