#include <gmock/gmock.h>

#include "sim/estimate/step_estimate.h"
#include "tests/sim/estimate/runs.h"

namespace sim {
namespace {

TEST(StepEstimate, MoreMicrobatchesTakeLonger) {
  RunDescription twice = gpt_run();
  twice.layout.microbatches *= 2;
  EXPECT_NEAR(step_seconds(twice) / step_seconds(gpt_run()), 2, 0.2);
}

TEST(StepEstimate, TensorParallelismOverNodesIsSlow) {
  RunDescription run = gpt_run();
  run.machine.gpus = 16;
  run.layout.data = 1;
  run.layout.tensor = 16;
  RunDescription inside = run;
  inside.layout.data = 2;
  inside.layout.tensor = 8;
  EXPECT_GT(step_seconds(run), 1.3 * step_seconds(inside) / 2);
}

TEST(StepEstimate, OverlapHidesTheReduction) {
  RunDescription open = gpt_run(), hidden = gpt_run();
  hidden.execution.overlap_reduce = true;
  EXPECT_LT(step_seconds(hidden), step_seconds(open));
}

TEST(StepEstimate, IntervalHoldsThePrediction) {
  const StepEstimate estimate = estimate_step(gpt_run(), plain_setting());
  EXPECT_LT(estimate.low, estimate.time);
  EXPECT_GT(estimate.high, estimate.time);
  EXPECT_NEAR(estimate.parts.total(), estimate.time.count(), 1e-12);
}

}  // namespace
}  // namespace sim
