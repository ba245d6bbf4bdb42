#include <gmock/gmock.h>

#include "sim/estimate/memory_estimate.h"
#include "sim/estimate/saved_activations.h"
#include "tests/sim/estimate/runs.h"

namespace sim {
namespace {

double gib(const RunDescription& run) { return estimate_memory(run, plain_setting()).total_gib; }

TEST(MemoryEstimate, StatesAreSixteenOrEighteenBytes) {
  const MemoryEstimate memory = estimate_memory(gpt_run(), plain_setting());
  const double parameters = 8 * 12 * 2048.0 * 2048 + 51200 * 2048.0 * 2;
  EXPECT_NEAR(memory.states_gib * 1073741824 / parameters, 18, 2.5);
}

TEST(MemoryEstimate, ShardingAndRecomputationSave) {
  RunDescription sharded = gpt_run(), again = gpt_run();
  sharded.layout.zero_stage = 1;
  again.execution.recompute = RecomputeKind::Full;
  EXPECT_LT(gib(sharded), gib(gpt_run()));
  EXPECT_LT(gib(again), gib(gpt_run()));
}

TEST(MemoryEstimate, SchedulesHoldDifferentNumbersOfMicrobatches) {
  RunDescription run = gpt_run();
  run.layout.data = 1;
  run.layout.pipeline = 8;
  run.layout.microbatches = 32;
  run.layout.schedule = "1f1b";
  const double one_each = gib(run);
  run.layout.schedule = "zb-2p";
  const double doubled = gib(run);
  run.layout.schedule = "gpipe";
  EXPECT_LT(one_each, doubled);
  EXPECT_LT(doubled, gib(run));
}

TEST(MemoryEstimate, TooMuchIsOutOfMemory) {
  RunDescription run = gpt_run();
  run.layout.micro_batch = 256;
  EXPECT_TRUE(estimate_step(run, plain_setting()).out_of_memory);
  EXPECT_FALSE(estimate_step(gpt_run(), plain_setting()).out_of_memory);
}

// What the allocator took: the pieces of the blocks stay beside the loss; they are given back before memory runs out.
TEST(MemoryEstimate, ReservedIsMoreThanNeeded) {
  const SoftwareStack torchtitan = load_software("torchtitan");
  const Setting setting{a100(), torchtitan};
  RunDescription run = gpt_run();
  run.execution.recompute = RecomputeKind::Full;
  const MemoryEstimate memory = estimate_memory(run, setting);
  const double passing = saved_activations(run, setting, BlockKind::Dense).passing / 1073741824;
  EXPECT_NEAR(memory.total_gib - memory.needed_gib, passing, 1e-6);
  MemoryEstimate full = memory;
  for (; full.total_gib < full.available_gib; full = estimate_memory(run, setting)) ++run.layout.micro_batch;
  ASSERT_LT(full.needed_gib, full.available_gib);
  EXPECT_NEAR(full.total_gib, full.available_gib, 1e-6);
}

TEST(MemoryEstimate, APipelineMayHoldTheMessagesOfAllMicrobatches) {
  SoftwareStack stack = plain_setting().stack;
  stack.fragmentation = 0;
  RunDescription run = gpt_run();
  run.layout.data = run.layout.zero_group = 2;
  run.layout.pipeline = 4;
  run.layout.microbatches = 64;
  run.layout.schedule = "1f1b";
  const double held = estimate_memory(run, {a100(), stack}).activations_gib;
  stack.keeps_outputs = true;
  EXPECT_GE(estimate_memory(run, {a100(), stack}).activations_gib, held + 64 * 2 * 2048 * 2048.0 * 2 / 1073741824 - 1e-9);
}

TEST(MemoryEstimate, EndsOfAShardedNetworkStayGathered) {
  RunDescription run = gpt_run();
  run.layout.zero_stage = 3;
  run.network.tied = true;
  const double tied = estimate_memory(run, plain_setting()).peak_gib;
  run.network.tied = false;
  EXPECT_NEAR(estimate_memory(run, plain_setting()).peak_gib - tied, 2 * 51200 * 2048.0 / 1073741824, 1e-6);
}

RunDescription sharded_pipeline(bool reshard) {
  RunDescription run = gpt_run();
  run.layout.data = 4;
  run.layout.pipeline = 2;
  run.layout.zero_stage = 3;
  run.layout.zero_group = 4;
  run.layout.microbatches = 8;
  run.layout.reshard = reshard;
  run.layout.schedule = "1f1b";
  return run;
}

// Weights and gradients whole on each rank: 2 + 4 bytes of its parameters more; in exchange one gather a step.
TEST(MemoryEstimate, APipelineKeepsGatheredWeights) {
  const double more = estimate_memory(sharded_pipeline(false), plain_setting()).total_gib -
                      estimate_memory(sharded_pipeline(true), plain_setting()).total_gib;
  EXPECT_NEAR(more, (6 * 4 * 12 * 2048.0 * 2048 + 4 * 51200 * 2048.0) / 1073741824.0, 0.1);  // an end stays gathered in both
  EXPECT_LT(step_seconds(sharded_pipeline(false)), step_seconds(sharded_pipeline(true)));
}

}  // namespace
}  // namespace sim
