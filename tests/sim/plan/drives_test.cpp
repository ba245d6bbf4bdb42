#include "sim/plan/drives.h"

#include <gmock/gmock.h>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

TEST(Drives, HoldAllWeightsOfARankOrNone) {
  const Bytes number(2);
  EXPECT_FALSE(Drives{1'000'000'000}.hold_weights());
  EXPECT_EQ(Drives{1'000'000'000}.weights_in_memory(number), number * 1'000'000'000);
  EXPECT_TRUE(Drives{1'000'000'001}.hold_weights());
  EXPECT_EQ(Drives{8'000'000'000}.weights_in_memory(number), number * 2'500'000'000);
  EXPECT_EQ(Drives{1'000}.states_buffers(Bytes(4)), Bytes(16'000));
}

TEST(Drives, WhatADeviceHoldsIsOnNone) {
  ParallelPlan plan = testing::tiny_plan();
  put_on_drive(plan, OnDrive::Optimizer, true);
  put_on_drive(plan, OnDrive::Weights, true);
  EXPECT_EQ(plan.on_drive, OnDrive::Both);
  plan.offload_optimizer = true;
  keep_drives_to_the_host(plan);
  EXPECT_EQ(plan.on_drive, OnDrive::Optimizer);
  plan.offload_optimizer = false;
  keep_drives_to_the_host(plan);
  EXPECT_EQ(plan.on_drive, OnDrive::None);
}

}  // namespace
}  // namespace sim
