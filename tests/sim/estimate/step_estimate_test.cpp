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

TEST(StepEstimate, ALayerAloneHasNoStep) {
  RunDescription run = gpt_run();
  run.network.kind = NetworkKind::DecoderLayer;
  const StepParts parts = estimate_step(run, plain_setting()).parts;
  EXPECT_EQ(parts.total(), parts.pipeline + parts.gradients);
}

TEST(StepEstimate, OverlapHidesTheReduction) {
  RunDescription open = gpt_run(), hidden = gpt_run();
  hidden.execution.overlap_reduce = true;
  EXPECT_LT(step_seconds(hidden), step_seconds(open));
}

TEST(StepEstimate, ChunksHideExchangesBehindEachOther) {
  RunDescription plain = gpt_run();
  plain.layout.data = 2;
  plain.layout.pipeline = 4;
  plain.layout.zero_stage = 1;
  plain.layout.zero_group = 2;
  plain.layout.microbatches = plain.layout.global_batch = 8;
  plain.execution.overlap_reduce = plain.execution.overlap_gather = true;
  plain.machine.network_gbits = 20;
  plain.machine.gpus_per_node = 1;
  RunDescription chunked = plain;
  chunked.layout.schedule = "interleaved";
  chunked.layout.chunks = 2;
  EXPECT_LT(estimate_step(chunked, plain_setting()).parts.gradients, estimate_step(plain, plain_setting()).parts.gradients);
}

TEST(StepEstimate, WeightsKeptInAPipelineAreGatheredOnce) {
  RunDescription run = gpt_run();
  run.layout.data = 4;
  run.layout.pipeline = 2;
  run.layout.zero_stage = 3;
  run.layout.zero_group = 4;
  run.layout.reshard = false;
  run.machine.network_gbits = 20;
  run.machine.gpus_per_node = 1;
  const StepParts few = estimate_step(run, plain_setting()).parts;
  run.layout.microbatches *= 4;
  EXPECT_NEAR(estimate_step(run, plain_setting()).parts.gather, few.gather, 1e-9);
  EXPECT_GT(few.gather, 0);
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
