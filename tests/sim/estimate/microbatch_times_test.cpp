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

TEST(MicrobatchTimes, TransfersOnlyInAPipeline) {
  RunDescription run = gpt_run();
  EXPECT_EQ(MicrobatchTimes(run, plain_setting()).transfer().count(), 0);
  run.layout.pipeline = 2;
  EXPECT_GT(MicrobatchTimes(run, plain_setting()).transfer().count(), 0);
}

}  // namespace
}  // namespace sim
