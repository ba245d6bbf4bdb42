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

// What comes in (2), and what goes out (3), of every microbatch.
TEST(MemoryEstimate, APipelineMayHoldTheMessagesOfAllMicrobatches) {
  SoftwareStack stack = plain_setting().stack;
  stack.fragmentation = 0;
  RunDescription run = gpt_run();
  run.layout.data = run.layout.zero_group = 2;
  run.layout.pipeline = 4;
  run.layout.microbatches = 64;
  run.layout.schedule = "1f1b";
  run.network.vocabulary = 128;  // the last stage is not the fullest
  const auto held = [&](std::int32_t messages) {
    stack.held_messages = messages;
    return estimate_memory(run, {a100(), stack}).activations_gib;
  };
  const double all = 64 * 2 * 2048 * 2048.0 * 2 / 1073741824;
  EXPECT_GE(held(2), held(0) + all - 1e-9);
  EXPECT_GE(held(3), held(2) + all - 1e-9);
}

// Bytes a parameter, beside an end that stays gathered: Rajbhandari et al. 2020, table 1 (gradients in 16 bits), and Megatron-LM's table of
// its distributed optimizer (in 32 bits, 6 + 12 / d).
TEST(MemoryEstimate, StatesAreAsPublished) {
  SoftwareStack stack;
  RunDescription run = gpt_run();
  const double parameters = estimate_memory(run, {a100(), stack}).states_gib / 18;
  const auto bytes = [&](std::int64_t stage, double gradients) {
    run.layout.zero_stage = stage;
    run.execution.accumulate_bytes = gradients;
    return estimate_memory(run, {a100(), stack}).states_gib / parameters;
  };
  EXPECT_NEAR(bytes(0, 2), 16, 1e-9);
  EXPECT_NEAR(bytes(1, 2), 2 + 2 + 12.0 / 8, 1e-9);
  EXPECT_NEAR(bytes(2, 2), 2 + (2 + 12.0) / 8, 1e-9);
  EXPECT_NEAR(bytes(3, 2), 16.0 / 8, 1e-9);
  EXPECT_NEAR(bytes(1, 4), 6 + 12.0 / 8, 1e-9);
}

TEST(MemoryEstimate, OffloadingLeavesWeightsAndGradients) {
  SoftwareStack stack;
  RunDescription run = gpt_run();
  run.execution.accumulate_bytes = 2;
  const double parameters = estimate_memory(run, {a100(), stack}).states_gib / 16;
  run.execution.place = OptimizerPlace::Host;
  EXPECT_NEAR(estimate_memory(run, {a100(), stack}).states_gib / parameters, 4, 1e-9);
  run.layout.zero_stage = 3;
  EXPECT_NEAR(estimate_memory(run, {a100(), stack}).states_gib / parameters, 4.0 / 8, 1e-9);
}

TEST(MemoryEstimate, AFrozenBaseHasItsOwnWidth) {
  SoftwareStack stack;
  RunDescription run = gpt_run();
  run.network.low_rank = LowRankForm{.rank = 16, .attention_only = true, .base_bytes = 2};
  for (const std::int64_t stage : {0, 3}) {
    run.layout.zero_stage = stage;
    run.network.low_rank->base_bytes = 2;
    const double half = estimate_memory(run, {a100(), stack}).states_gib;
    run.network.low_rank->base_bytes = 1;
    const double parameters = 8 * 12 * 2048.0 * 2048 + 51200 * 2048.0 * 2, shards = stage == 3 ? 8 : 1;
    EXPECT_NEAR(half - estimate_memory(run, {a100(), stack}).states_gib, parameters / shards / 1073741824, 0.01 / shards);
  }
}

// One block and the next, or both tables, which are one unit.
TEST(MemoryEstimate, GathersMayLandInMemoryOfTheirOwn) {
  SoftwareStack stack;
  RunDescription run = gpt_run();
  run.layout.zero_stage = 3;
  const auto peak = [&] { return estimate_memory(run, {a100(), stack}).peak_gib; };
  const double shared = peak();
  stack.stages_gathers = true;
  EXPECT_NEAR(peak() - shared, 2 * 2 * 51200 * 2048.0 / 1073741824, 1e-6);
}

// In chunks of half a stage each, 1f1b holds 2p: zbv as many, v-half and v-min about a half and a third (Qi et al. 2024).
TEST(MemoryEstimate, SchedulesOfTwoChunksHoldWhatTheirNamesSay) {
  RunDescription run = gpt_run();
  run.network.layers = 48;
  run.layout = {
      .data = 1, .pipeline = 12, .chunks = 2, .zero_group = 1, .micro_batch = 1, .global_batch = 96, .microbatches = 96, .balance = {}};
  SoftwareStack stack;
  stack.fragmentation = 0;
  const auto held = [&](const char* schedule) {
    run.layout.schedule = schedule;
    return estimate_memory(run, {a100(), stack}).activations_gib;
  };
  const double whole = held("zbv");
  EXPECT_NEAR(held("v-half") / whole, 0.5, 0.15);
  EXPECT_NEAR(held("v-min") / whole, 1.0 / 3, 0.15);
  EXPECT_NEAR(held("interleaved") / whole, 35.0 / 24, 0.01);  // p + 2 (p - 1) + 1
  run.layout.chunks = 1;
  EXPECT_NEAR(held("1f1b") / whole, 1, 0.01);
  EXPECT_NEAR(held("zb-2p") / held("zb-1p"), 23.0 / 12, 0.01);
}

TEST(MemoryEstimate, AtTheLimitEitherIsAsLikely) {
  StepEstimate estimate;
  MemoryEstimate memory{.total_gib = 70, .needed_gib = 70, .available_gib = 70};
  const Behavior& known = common_behavior();
  take_memory(memory, known, estimate);
  EXPECT_NEAR(estimate.out_of_memory_chance, 0.5, 1e-9);
  EXPECT_NEAR(estimate.memory_high_gib, 70 * (1 + known.memory_interval), 1e-9);
  memory.needed_gib = 70 * (1 + known.memory_interval);  // a tenth lies beyond either end
  take_memory(memory, known, estimate);
  EXPECT_NEAR(estimate.out_of_memory_chance, 0.9, 1e-3);
  EXPECT_TRUE(estimate.out_of_memory);
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
