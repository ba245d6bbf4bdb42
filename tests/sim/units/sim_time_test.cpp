#include "sim/units/sim_time.h"

#include <gtest/gtest.h>

namespace sim {
namespace {

TEST(SimTime, RoundsToNearest) {
  EXPECT_EQ(to_sim_time(Seconds(1e-12)), SimTime(1));
  EXPECT_EQ(to_sim_time(Seconds(1.4e-12)), SimTime(1));
  EXPECT_EQ(to_sim_time(Seconds(1.6e-12)), SimTime(2));
  EXPECT_EQ(to_sim_time(Seconds(-1.6e-12)), SimTime(-2));
  EXPECT_EQ(to_sim_time(Seconds(1.0)), SimTime(1'000'000'000'000));
}

TEST(SimTime, ComesBackAsSeconds) { EXPECT_EQ(to_seconds(SimTime(250'000'000'000)), Seconds(0.25)); }

TEST(SimTime, AmountOverRateIsTime) {
  EXPECT_EQ(Bytes(100) / BytesPerSecond(400.0), Seconds(0.25));
  EXPECT_EQ(Flops(100) / FlopsPerSecond(400.0), Seconds(0.25));
  EXPECT_EQ(Bytes(100) / Seconds(0.25), BytesPerSecond(400.0));
  EXPECT_EQ(Flops(100) / Seconds(0.25), FlopsPerSecond(400.0));
}

}  // namespace
}  // namespace sim
