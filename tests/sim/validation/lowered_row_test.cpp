#include "sim/validation/lowered_row.h"

#include <gmock/gmock.h>

#include "sim/validation/predict_rows.h"
#include "sim/validation/score.h"
#include "tests/sim/estimate/runs.h"

namespace sim {
namespace {

using testing::HasSubstr;

// One rank, no exchange: the engine adds up the same kernels.
TEST(LoweredRow, WithoutCommunicationTheEngineSaysWhatTheEstimateSays) {
  RunDescription run = gpt_run();
  run.machine.gpus = run.layout.data = run.layout.zero_group = 1;
  run.layout.global_batch = 8;
  for (const RecomputeKind recompute : {RecomputeKind::None, RecomputeKind::Full}) {
    run.execution.recompute = recompute;
    EXPECT_NEAR(simulated_step(run, plain_setting()).count() / step_seconds(run), 1, 0.01);
  }
}

TEST(LoweredRow, ExpertsOnOneRankTakeTheSameTime) {
  RunDescription run = gpt_run();
  run.machine.gpus = run.layout.data = run.layout.zero_group = 1;
  run.layout.global_batch = 8;
  run.network.experts =
      ExpertForm{.experts = 8, .topk = 2, .expert_ffn = run.network.ffn / 4, .shared_ffn = run.network.ffn / 4, .first_dense_layers = 2};
  EXPECT_NEAR(simulated_step(run, plain_setting()).count() / step_seconds(run), 1, 0.02);
}

// Both ask one clock where tokens cross to a node once, and exchange them again where the forward is run again.
TEST(LoweredRow, TokensThatCrossOnceTakeTheSameTime) {
  RunDescription run = gpt_run();
  run.machine.gpus = run.layout.data = run.layout.zero_group = 16;
  run.layout.global_batch = 8 * 16 * run.layout.micro_batch;
  run.layout.microbatches = 8;
  run.layout.expert = 16;
  SoftwareStack stack = plain_setting().stack;
  stack.dispatch_share = 0.9;
  const Setting setting{a100(), stack};
  for (const ExpertDispatch dispatch : {ExpertDispatch::Dropless, ExpertDispatch::Padded})
    for (const RecomputeKind recompute : {RecomputeKind::None, RecomputeKind::Full}) {
      run.network.experts = ExpertForm{.experts = 16, .topk = 4, .expert_ffn = run.network.ffn / 8, .dispatch = dispatch};
      run.execution.recompute = recompute;
      const bool again = recompute == RecomputeKind::Full;  // tasks leave out what makes the output alone: tokens on their way back
      EXPECT_NEAR(simulated_step(run, setting) / estimate_step(run, setting).time, 1, again ? 0.1 : 0.02);
    }
}

// What the engine plays out and the estimate sums: exchanges that nothing hides.
TEST(LoweredRow, ExchangesTakeTheSameTime) {
  RunDescription run = gpt_run();
  run.machine.gpus = run.machine.gpus_per_node = 8;
  run.layout.data = 8;
  run.layout.zero_group = 8;
  run.layout.global_batch = 8 * run.layout.micro_batch;
  run.layout.microbatches = 1;
  run.network.experts = ExpertForm{.experts = 8, .topk = 2, .expert_ffn = run.network.ffn / 4};
  run.layout.expert = 8;
  EXPECT_NEAR(simulated_step(run, plain_setting()).count() / step_seconds(run), 1, 0.05);
  run = gpt_run();
  run.machine.gpus = run.machine.gpus_per_node = 8;
  run.layout.data = 4;
  run.layout.zero_group = 8;
  run.layout.context = 2;
  run.layout.context_all_to_all = true;
  run.layout.global_batch = 4 * run.layout.micro_batch;
  run.layout.microbatches = 1;
  EXPECT_NEAR(simulated_step(run, plain_setting()).count() / step_seconds(run), 1, 0.05);
}

TEST(LoweredRow, KeepsWhatTheRunSays) {
  RunDescription run = gpt_run();
  run.machine.network_gbits = 400;
  run.execution.attention = AttentionKernel::FusedSoftmax;
  run.layout.zero_stage = 2;
  const ParallelPlan plan = lowered_plan(run, plain_setting());
  EXPECT_EQ(plan.cluster.hardware.inter_node.peak_bandwidth.value(), 50e9);
  EXPECT_EQ(attention_kernel(plan.cluster.software), AttentionKernel::FusedSoftmax);
  EXPECT_EQ(plan.zero_stage, 2);
  EXPECT_EQ(plan.num_microbatches(), 4);
}

TEST(LoweredRow, SaysWhyNot) {
  RunDescription run = gpt_run();
  EXPECT_EQ(why_not_lowered(run), "");
  run.network.experts = ExpertForm{};
  run.layout.tensor = 2;
  run.layout.expert_tensor = false;
  EXPECT_THAT(why_not_lowered(run), HasSubstr("experts"));
  run = gpt_run();
  run.layout.pipeline = 2;
  run.layout.schedule = "unheard of";
  EXPECT_THAT(why_not_lowered(run), HasSubstr("schedule"));
}

// What sim/README.md records of the planner's own prices. 578 of the 756 rows can be lowered.
TEST(LoweredRow, TheEngineIsAsTrueToTheRecordAsTheEstimate) {
  const Score result = score(predict_file("profiles/published/rows.json", PredictedBy::Engine));
  EXPECT_EQ(result.predicted, 578);
  EXPECT_LE(result.macro_mape, 0.048);
  for (const TimeScore& source : result.sources) EXPECT_LE(source.mape, 0.09) << source.source;
}

}  // namespace
}  // namespace sim
