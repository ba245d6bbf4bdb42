#include <gmock/gmock.h>

#include "sim/estimate/microbatch_times.h"
#include "tests/sim/estimate/runs.h"

namespace sim {
namespace {

StageTimes sum(const RunDescription& run) {
  StageTimes all;
  for (const StageTimes& stage : MicrobatchTimes(run, plain_setting()).stages()) {
    all.forward += stage.forward;
    all.backward += stage.backward;
    all.weight += stage.weight;
  }
  return all;
}

TEST(MicrobatchTimes, BackwardIsAboutTwiceForward) {
  const StageTimes all = sum(gpt_run());
  EXPECT_NEAR((all.backward + all.weight) / all.forward, 2.1, 0.4);
}

TEST(MicrobatchTimes, FullRecomputationAddsAForward) {
  RunDescription again = gpt_run();
  again.execution.recompute = RecomputeKind::Full;
  const double added = (sum(again).backward - sum(gpt_run()).backward).count();
  EXPECT_GT(added, 0.6 * sum(gpt_run()).forward.count());
  EXPECT_LT(added, sum(gpt_run()).forward.count());
}

TEST(MicrobatchTimes, FullRecomputationExchangesTokensAgain) {
  RunDescription run = gpt_run();
  run.network.experts = ExpertForm{.experts = 8, .topk = 2, .expert_ffn = 1024};
  run.layout.expert = 8;
  const double blocks = sum(run).forward.count();
  run.layout.data = 64;  // over the network
  run.layout.expert = run.network.experts->experts = 64;
  const double exchanged = sum(run).forward.count() - blocks;
  run.execution.recompute = RecomputeKind::Full;
  const double again = sum(run).backward.count();
  run.execution.recompute = RecomputeKind::None;
  EXPECT_GT(again - sum(run).backward.count(), blocks / 2 + exchanged);
}

TEST(MicrobatchTimes, GatheredWeightsWaitForASlowNetwork) {
  RunDescription run = gpt_run();
  run.layout.zero_stage = 3;
  run.layout.data = run.layout.zero_group = run.machine.gpus = 64;
  run.layout.micro_batch = 1;
  const double fast = sum(run).forward.count();
  run.machine.network_gbits = 100;
  EXPECT_GT(sum(run).forward.count(), 1.5 * fast);
}

TEST(MicrobatchTimes, ContextRanksShareTheTokens) {
  RunDescription run = gpt_run();
  run.layout.context = 2;
  run.layout.data = 4;
  EXPECT_LT(sum(run).forward.count(), 0.7 * sum(gpt_run()).forward.count());
  run.layout.context_all_to_all = true;
  EXPECT_LT(sum(run).forward.count(), 0.9 * sum(gpt_run()).forward.count());
}

RunDescription cut_run() {
  RunDescription run = gpt_run();
  run.layout.data = run.layout.zero_group = 1;
  run.layout.tensor = 8;
  return run;
}

TEST(MicrobatchTimes, SumsOfInputGradientsGoBesideWeightGradients) {
  SoftwareStack stack = plain_setting().stack;
  const auto backward = [&](const RunDescription& run) { return MicrobatchTimes(run, {a100(), stack}).stages()[0].backward.count(); };
  const double open = backward(cut_run());
  stack.overlap_input_gradient = true;
  EXPECT_LT(backward(cut_run()), 0.95 * open);
  RunDescription frozen = cut_run();
  frozen.network.low_rank = LowRankForm{};
  const double hidden = backward(frozen);
  stack.overlap_input_gradient = false;
  EXPECT_EQ(backward(frozen), hidden) << "no weight gradient, nothing beside which";
}

TEST(MicrobatchTimes, OperandsCastBeforeTheyAreGathered) {
  static const Device h100 = load_device("h100-80gb-sxm");
  SoftwareStack stack = plain_setting().stack;
  RunDescription run = cut_run();
  run.layout.sequence_parallel = true;
  run.execution.format = NumberFormat::Fp8;
  const auto forward = [&] { return MicrobatchTimes(run, {h100, stack}).stages()[0].forward.count(); };
  const double whole = forward();
  stack.gathers_fp8 = true;
  const double parts = forward();
  EXPECT_LT(parts, whole);
  run.execution.scales = ScaleRecipe::Rowwise;
  const double rowwise = forward();
  stack.gathers_fp8 = false;
  EXPECT_EQ(forward(), rowwise) << "a scale a row is known after the gather";
}

TEST(MicrobatchTimes, TheSlowestOfMoreDevicesIsSlower) {
  RunDescription run = gpt_run();
  const double few = sum(run).forward.count();
  run.machine.gpus = 8192;
  EXPECT_GT(sum(run).forward.count(), 1.02 * few);
}

TEST(MicrobatchTimes, TransfersOnlyInAPipeline) {
  RunDescription run = gpt_run();
  EXPECT_EQ(MicrobatchTimes(run, plain_setting()).transfer().count(), 0);
  run.layout.pipeline = 2;
  EXPECT_GT(MicrobatchTimes(run, plain_setting()).transfer().count(), 0);
}

}  // namespace
}  // namespace sim
