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

TEST(ScanMemory, OfAShortConvolution) {
  ParallelPlan plan = plan_of_channels(LinearRule::ShortConvolution);
  EXPECT_EQ(kept_by(plan, 1), Bytes(4 * 32 * (64 + 3 * 48 + 3 * 48)));
  plan.mesh.tensor = 2;
  EXPECT_EQ(kept_by(plan, 1), Bytes(4 * 32 * (64 + 3 * 24 + 3 * 24)));
}

}  // namespace
}  // namespace sim
