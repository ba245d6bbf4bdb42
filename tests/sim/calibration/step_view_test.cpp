#include "sim/calibration/step_view.h"

#include <gtest/gtest.h>

#include "tests/sim/calibration/made_plans.h"

namespace sim {
namespace {

TEST(StepView, IsTheSimulatedStepAtHome) {
  const ParallelPlan plan = row_plan(2, 2);
  const PlannedStep step(plan);
  const StepView view = step_view(step, plan.cluster.software, *plan.cluster.hardware.kernels);
  const Belief nothing{};
  EXPECT_NEAR(believed_seconds(nothing, view), step.time(plan.cluster.software, *plan.cluster.hardware.kernels).count(), 1e-6);
  EXPECT_GT(view.width, 0.02);
}

TEST(StepView, MovesAreTaken) {
  SoftwareStack stack = row_plan(2).cluster.software;
  const SoftwareStack before = stack;
  Belief belief{};
  belief.moves[1] = 0.1;    // matrix_share divides
  belief.moves[4] = -1e-3;  // no time is below zero
  take_moves(belief, stack);
  EXPECT_NEAR(stack.matrix_share, before.matrix_share * 0.9048, 1e-3);
  EXPECT_EQ(stack.host_per_kernel.count(), 0);
}

TEST(StepView, AWidthAndItsIntervalAreTheSame) { EXPECT_NEAR(interval_factor(width_of(0.2)), 1.2, 1e-12); }

}  // namespace
}  // namespace sim
