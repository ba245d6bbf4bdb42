#include <gmock/gmock.h>

#include "sim/calibration/fitted_constants.h"

namespace sim {
namespace {

TEST(FittedConstants, FewEnough) {
  EXPECT_LE(stack_constants().size(), 10u);
  EXPECT_LE(part_constants().size(), 20u);
}

TEST(FittedConstants, WhatIsSetIsGot) {
  SoftwareStack stack;
  for (const auto& constant : stack_constants()) {
    EXPECT_LT(constant.low, constant.high) << constant.name;
    constant.set(stack, constant.high);
    EXPECT_DOUBLE_EQ(constant.get(stack), constant.high) << constant.name;
  }
  KernelTraits traits;
  for (const auto& constant : part_constants()) {
    constant.set(traits, constant.low);
    EXPECT_DOUBLE_EQ(constant.get(traits), constant.low) << constant.name;
  }
}

}  // namespace
}  // namespace sim
