#include <gmock/gmock.h>

#include "sim/estimate/saved_activations.h"
#include "tests/sim/estimate/runs.h"

namespace sim {
namespace {

SavedActivations saved(const RunDescription& run) { return saved_activations(run, plain_setting(), BlockKind::Dense); }

TEST(SavedActivations, InputAloneUnderFullRecomputation) {
  RunDescription run = gpt_run();
  run.execution.recompute = RecomputeKind::Full;
  EXPECT_DOUBLE_EQ(saved(run).kept, 2 * 2048 * 2048.0 * 2);
  EXPECT_GT(saved(run).whole, 10 * saved(run).kept);
}

TEST(SavedActivations, ScoresGrowWithTheSquareOfTheSequence) {
  RunDescription run = gpt_run();
  run.execution.attention = AttentionKernel::FusedSoftmax;
  const double extra = saved(run).kept - saved(gpt_run()).kept;
  EXPECT_NEAR(extra, 2 * 16 * 2048.0 * 2048 * 2, 1e6);
}

TEST(SavedActivations, SelectiveLiesBetween) {
  RunDescription run = gpt_run();
  run.execution.recompute = RecomputeKind::CheapOperators;
  EXPECT_LT(saved(run).kept, saved(gpt_run()).kept);
  run.execution.recompute = RecomputeKind::EverySecondLayer;
  EXPECT_LT(saved(run).kept, saved(gpt_run()).kept);
}

TEST(SavedActivations, LogitsAreOfTheWholeVocabulary) { EXPECT_NEAR(saved(gpt_run()).logits, 4096 * 51200.0 * 12, 1); }

}  // namespace
}  // namespace sim
