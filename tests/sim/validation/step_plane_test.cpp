#include "sim/validation/step_plane.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/sim/estimate/runs.h"

namespace sim {
namespace {

RunDescription pipelined() {
  RunDescription run = gpt_run();
  run.layout.pipeline = 4;
  run.layout.data = run.layout.zero_group = 2;
  run.layout.schedule = "1f1b";
  run.layout.global_batch = 2 * run.layout.micro_batch * run.layout.microbatches;
  return run;
}
RunDescription sharded() {
  RunDescription run = gpt_run();
  run.layout.zero_stage = 3;
  run.layout.reshard = true;
  return run;
}
RunDescription of_tensor_ranks() {
  RunDescription run = gpt_run();
  run.layout.tensor = 4;
  run.layout.data = run.layout.zero_group = 2;
  run.layout.global_batch = 2 * run.layout.micro_batch * run.layout.microbatches;
  return run;
}

SoftwareStack faster(double share) {
  SoftwareStack stack = plain_setting().stack;
  stack.matrix_share *= share;
  stack.step_overhead += Seconds(share - 1);
  return stack;
}

TEST(StepPlane, TouchesTheStepAndStaysBelow) {
  const KernelTraits& part = a100().kernels;
  for (const RunDescription& run : {pipelined(), sharded(), of_tensor_ranks()}) {
    const MeasuredStep step(run, plain_setting());
    ASSERT_TRUE(step.is_simulated());
    const StepPlane plane = step.touch(plain_setting().stack, part);
    EXPECT_EQ(plane.height(point_of(plain_setting().stack, part)), step.time(plain_setting().stack, part).count());
    for (const double share : {1.02, 1.05, 1.15}) {
      const double height = plane.height(point_of(faster(share), part)), time = step.time(faster(share), part).count();
      EXPECT_LE(height, time * (1 + 1e-6));
      EXPECT_NEAR(height / time, 1, (share - 1) * (share - 1));  // second order
    }
  }
}

TEST(StepPlane, ARunWithoutAPlanIsAskedOfTheClosedForm) {
  RunDescription run = gpt_run();
  run.network.low_rank = LowRankForm{};
  const MeasuredStep step(run, plain_setting());
  ASSERT_FALSE(step.is_simulated());
  EXPECT_EQ(step.time(plain_setting().stack, a100().kernels), estimate_step(run, plain_setting()).time);
  const StepPlane plane = step.touch(plain_setting().stack, a100().kernels);
  EXPECT_NEAR(plane.height(point_of(faster(1.02), a100().kernels)) / step.time(faster(1.02), a100().kernels).count(), 1, 1e-3);
}

}  // namespace
}  // namespace sim
