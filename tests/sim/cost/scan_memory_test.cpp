#include "sim/cost/scan_memory.h"

#include <gtest/gtest.h>

#include "tests/sim/cost/memory_scene.h"

namespace sim {
namespace {

using testing::kept_by;

// 32 tokens, hidden 64, fp32.
ParallelPlan plan_of_channels(LinearRule rule) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  plan.model.linear = LinearForm{.rule = rule, .heads = 48, .groups = 48, .key = 16, .value = 1, .step_rank = 4};
  plan.model.linear_layers.assign(static_cast<std::size_t>(plan.model.layers), true);
  return plan;
}

// Values and gate, narrow steps with B and C, these once more, what comes out; a pair for each state of the sample. With norms that have weights convolved
// values, steps and gated ones, too.
TEST(ScanMemory, OfASelectiveScan) {
  ParallelPlan plan = plan_of_channels(LinearRule::Selective);
  const std::int64_t narrow = 4 + 2 * 16, states = 48 * 16 * 8;
  EXPECT_EQ(kept_by(plan, 1), Bytes(4 * 32 * (64 + 2 * 48 + narrow + 2 * 16 + 48) + states));
  plan.model.linear->scan_norms = ScanNorms::Weighted;
  EXPECT_EQ(kept_by(plan, 1), Bytes(4 * 32 * (64 + 2 * 48 + 2 * narrow + 3 + 4 * 48) + states));
}

// Of 16 of its 32 tokens as much as without context ranks of all, but for queries and keys of the one group, of which both ranks have all: kept as they were
// projected and as they were convolved. Backward: the gradient of what comes out, until that of what was projected.
TEST(ScanMemory, OfHeadsThatContextRanksDealOut) {
  ParallelPlan plan = testing::tiny_plan({.context = 2});
  plan.model = testing::tiny_llama();
  plan.model.linear = LinearForm{.rule = LinearRule::StateSpace, .heads = 4, .groups = 1, .key = 16, .value = 8, .chunk = 4};
  plan.model.linear_layers.assign(static_cast<std::size_t>(plan.model.layers), true);
  const SegmentMemory dealt = testing::memory_of(plan, Operation::LinearAttention);
  EXPECT_EQ(dealt.kept, Bytes(4 * 16 * (64 + (2 * 32 + 2 * 32 + 4) + (32 + 2 * 32) + 32 + 32)));
  EXPECT_EQ(dealt.output_gradient, Bytes(4 * 16 * 32));
  EXPECT_EQ(dealt.input_gradients, Bytes(4 * 16 * (2 * 32 + 2 * 32 + 4)));
  EXPECT_EQ(dealt.middle_temporary, Bytes(4 * 16 * (32 + 4 * 16 * 8 / 4)));
  plan.mesh.context = 1;
  EXPECT_EQ(testing::memory_of(plan, Operation::LinearAttention).output_gradient, Bytes(0));
}

TEST(ScanMemory, OfAShortConvolution) {
  ParallelPlan plan = plan_of_channels(LinearRule::ShortConvolution);
  EXPECT_EQ(kept_by(plan, 1), Bytes(4 * 32 * (64 + 3 * 48 + 3 * 48)));
  plan.mesh.tensor = 2;
  EXPECT_EQ(kept_by(plan, 1), Bytes(4 * 32 * (64 + 3 * 24 + 3 * 24)));
}

}  // namespace
}  // namespace sim
