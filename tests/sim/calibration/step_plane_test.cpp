#include "sim/calibration/step_plane.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/sim/clock/devices.h"
#include "tests/sim/validation/rows.h"

namespace sim {
namespace {

ParallelPlan plan_of(const Json& plan) { return describe(patched(valid_row(), {{"plan", plan}})).plan; }

SoftwareStack faster(double share) {
  SoftwareStack stack = plain_stack();
  stack.matrix_share *= share;
  stack.step_overhead += Seconds(share - 1);
  return stack;
}

TEST(StepPlane, TouchesTheStepAndStaysBelow) {
  const KernelTraits& part = a100().kernels;
  for (const ParallelPlan& plan :
       {plan_of({{"dp", 2}, {"pp", 4}, {"schedule", "1f1b"}}), plan_of({{"zero_stage", 3}}), plan_of({{"dp", 2}, {"tp", 4}})}) {
    const PlannedStep step(plan);
    const StepPlane plane = step.touch(plain_stack(), part);
    EXPECT_EQ(plane.height(point_of(plain_stack(), part)), step.time(plain_stack(), part).count());
    for (const double share : {1.02, 1.05, 1.15}) {
      const double height = plane.height(point_of(faster(share), part)), time = step.time(faster(share), part).count();
      EXPECT_LE(height, time * (1 + 1e-6));
      EXPECT_NEAR(height / time, 1, 2 * (share - 1) * (share - 1));  // second order
    }
  }
}

}  // namespace
}  // namespace sim
