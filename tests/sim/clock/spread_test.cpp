#include "sim/clock/spread.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

// Tabulated means of the largest of n standard normal values.
TEST(Spread, LargestOfManyNormalValues) {
  EXPECT_EQ(largest_of_normal(1), 0);
  EXPECT_NEAR(largest_of_normal(10), 1.539, 0.12);
  EXPECT_NEAR(largest_of_normal(100), 2.508, 0.12);
  EXPECT_NEAR(largest_of_normal(1000), 3.241, 0.12);
}

TEST(Spread, AStepWaitsForTheSlowestDevice) {
  const Behavior& behavior = common_behavior();
  EXPECT_EQ(slowest_device(1, behavior), 1);
  EXPECT_NEAR(slowest_device(1000, behavior), 1 + 3.25 * behavior.device_spread, 0.005);
  for (double devices = 2; devices < 1e5; devices *= 2) EXPECT_LT(slowest_device(devices / 2, behavior), slowest_device(devices, behavior));
}

TEST(Spread, ATenthOfCasesIsAboveTheRange) {
  EXPECT_NEAR(chance_above({50, 72}, 72), 0.1, 1e-4);
  EXPECT_NEAR(chance_above({50, 72}, 50), 0.9, 1e-4);
  EXPECT_NEAR(chance_above({50, 72}, 60), 0.5, 1e-9);
  EXPECT_EQ(chance_above({0, 0}, 60), 0);
  EXPECT_EQ(chance_above({70, 70}, 60), 1);
}

}  // namespace
}  // namespace sim
