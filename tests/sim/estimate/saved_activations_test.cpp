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

// Of selective recomputation by operator: the last product's output is kept by eager programs alone.
TEST(SavedActivations, ACompilerDropsWhatNoGradientNeeds) {
  RunDescription run = gpt_run();
  run.execution.recompute = RecomputeKind::CheapOperators;
  const double eager = saved(run).kept;
  run.execution.compiled = true;
  EXPECT_NEAR(eager - saved(run).kept, 4096 * 2048.0 * 2, 1);
}

// Adapters of attention: the feed-forward's two products keep neither the normalized stream nor the activation.
TEST(SavedActivations, FrozenProductsKeepNoInput) {
  RunDescription run = gpt_run();
  const double trained = saved(run).kept;
  run.network.low_rank = LowRankForm{};
  EXPECT_NEAR(trained - saved(run).kept, 4096 * 2 * (2048 + 8192.0), 1);
  run.network.low_rank->attention_only = false;
  EXPECT_NEAR(saved(run).kept, trained, 1);
}

TEST(SavedActivations, TensorRanksWithWholeExpertsRouteTheirPart) {
  SoftwareStack stack;
  RunDescription run = gpt_run();
  run.network.experts =
      ExpertForm{.experts = 8, .topk = 2, .expert_ffn = 8192, .dispatch = ExpertDispatch::Dropless, .forced_balance = true};
  run.layout.tensor = 4;
  run.layout.sequence_parallel = true;
  const auto kept = [&] { return saved_activations(run, {a100(), stack}, BlockKind::Experts).kept; };
  const double rows = 4096 * 2 * 2048.0 * 2, cut = kept();  // of two experts a token, 16 bit
  run.layout.expert_tensor = false;
  EXPECT_NEAR(cut - kept(), 2 * rows * 3 / 4, 1);
  stack.weights_activation = true;
  run.layout.expert_tensor = true;
  EXPECT_NEAR(cut - kept(), rows, 1);
}

TEST(SavedActivations, GradientsOfTheFeedForwardOrOfTheScores) {
  RunDescription run = gpt_run();
  EXPECT_NEAR(saved(run).gradients, 4096 * 2 * (2048 + 8192.0), 1);
  run.execution.attention = AttentionKernel::Unfused;
  EXPECT_NEAR(saved(run).gradients, 2 * 16 * 2048.0 * 2048 * 8 - 4096 * 2 * 2 * 8192.0, 1);
}

// Blocks of 2048 tokens, keys and values: a ring has the next one and what it is reading, and the gradients of both.
TEST(SavedActivations, ContextRanksExchangeBlocks) {
  SoftwareStack stack;
  RunDescription run = gpt_run();
  EXPECT_EQ(saved(run).exchanged, 0);
  run.layout.context = 4;
  const auto blocks = [&] {
    return saved_activations(run, {a100(), stack}, BlockKind::Dense).exchanged / (run.tokens() * 2 * 2 * real(run.network.kv_heads) * 128);
  };
  EXPECT_NEAR(blocks(), 8, 1e-9);
  run.layout.context_ring = true;
  EXPECT_NEAR(blocks(), 4, 1e-9);
  stack.gathers_context = true;
  EXPECT_NEAR(blocks(), 6, 1e-9);
  run.network.kv_heads = 4;
  EXPECT_NEAR(blocks(), 6, 1e-9);
  stack.repeats_keys = true;
  EXPECT_NEAR(blocks(), 24, 1e-9);
  run.layout.context_all_to_all = true;
  EXPECT_EQ(blocks(), 0);
}

double logit_bytes(const RunDescription& run, const SoftwareStack& stack) {
  return saved_activations(run, {a100(), stack}, BlockKind::Dense).logits / (4096 * 51200.0 / static_cast<double>(run.layout.tensor));
}

TEST(SavedActivations, TheLossKeepsWhatItsProgramDoes) {
  SoftwareStack stack;
  stack.loss_bytes = 14;
  stack.cut_loss_bytes = 18;
  stack.fused_loss_bytes = 4;
  RunDescription run = gpt_run(), cut = gpt_run();
  cut.layout.tensor = 2;
  EXPECT_NEAR(logit_bytes(run, stack), 14, 1e-9);
  EXPECT_NEAR(logit_bytes(cut, stack), 18, 1e-9);
  run.execution.compiled = true;
  EXPECT_NEAR(logit_bytes(run, stack), 14, 1e-9);
  stack.compiled_loss = true;
  EXPECT_NEAR(logit_bytes(run, stack), 4, 1e-9);
}

TEST(SavedActivations, GatheredInputsMayBeSavedWhole) {
  SoftwareStack stack;
  RunDescription run = gpt_run();
  run.layout.tensor = 8;
  run.layout.sequence_parallel = true;
  const auto whole = [&] { return saved_activations(run, {a100(), stack}, BlockKind::Dense).whole; };
  const double parts = whole();
  stack.keeps_gathered = true;
  EXPECT_NEAR(whole() - parts, 2 * 7.0 / 8 * 4096 * 2048 * 2, 1);
}

TEST(SavedActivations, ALastStageMayKeepTheLogitsOfAllMicrobatches) {
  SoftwareStack stack;
  stack.held_messages = 2;
  RunDescription run = gpt_run();
  EXPECT_NEAR(logit_bytes(run, stack), 12, 1e-9);
  run.layout.pipeline = 2;
  EXPECT_NEAR(logit_bytes(run, stack), 12 + 2 * 3, 1e-9);
}

TEST(SavedActivations, LogitsAreOfTheWholeVocabulary) { EXPECT_NEAR(saved(gpt_run()).logits, 4096 * 51200.0 * 12, 1); }

}  // namespace
}  // namespace sim
