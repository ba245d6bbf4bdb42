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

TEST(StepEstimate, StatesShardedOverANodeAreGatheredInside) {
  RunDescription all = gpt_run();
  all.machine.gpus = 64;
  all.layout.data = 64;
  all.layout.zero_stage = 1;
  all.layout.zero_group = 64;
  RunDescription node = all;
  node.layout.zero_group = 8;
  EXPECT_LT(estimate_step(node, plain_setting()).parts.gather, 0.8 * estimate_step(all, plain_setting()).parts.gather);
}

TEST(StepEstimate, OffloadedStatesCostTheHostAndTheDrive) {
  RunDescription run = gpt_run(), host = gpt_run(), drive = gpt_run();
  host.execution.place = OptimizerPlace::Host;
  drive.execution.place = OptimizerPlace::Drive;
  const auto optimizer = [](const RunDescription& one) { return estimate_step(one, plain_setting()).parts.optimizer; };
  EXPECT_GT(optimizer(host), 10 * optimizer(run));
  EXPECT_GT(optimizer(drive), 3 * optimizer(host));
  EXPECT_LT(estimate_step(host, plain_setting()).memory_gib, estimate_step(run, plain_setting()).memory_gib);
}

}  // namespace
}  // namespace sim
