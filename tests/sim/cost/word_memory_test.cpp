#include "sim/cost/word_memory.h"

#include <gtest/gtest.h>

#include "tests/sim/model/pairs.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

// Of the first segment of a layer; 32 tokens, hidden 64, fp32.
Bytes kept_by(const ParallelPlan& plan, int layer, std::size_t segment = 0) {
  const ModelGraph model = make_model_graph(plan);
  return segment_memory(model, plan, model.layer(LayerIndex(layer)).segments[segment]).kept;
}

ParallelPlan plan_of_channels(LinearRule rule) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  plan.model.linear = LinearForm{.rule = rule, .heads = 48, .groups = 48, .key = 16, .value = 1, .step_rank = 4};
  plan.model.linear_layers.assign(static_cast<std::size_t>(plan.model.layers), true);
  return plan;
}

// Values and gate, narrow steps with B and C, these once more, what comes out; a pair for each state of the sample. With norms that have weights convolved
// values, steps and gated ones, too.
TEST(WordMemory, OfASelectiveScan) {
  ParallelPlan plan = plan_of_channels(LinearRule::Selective);
  const std::int64_t narrow = 4 + 2 * 16, states = 48 * 16 * 8;
  EXPECT_EQ(kept_by(plan, 1), Bytes(4 * 32 * (64 + 2 * 48 + narrow + 2 * 16 + 48) + states));
  plan.model.linear->scan_norms = ScanNorms::Weighted;
  EXPECT_EQ(kept_by(plan, 1), Bytes(4 * 32 * (64 + 2 * 48 + 2 * narrow + 3 + 4 * 48) + states));
}

TEST(WordMemory, OfAShortConvolution) {
  ParallelPlan plan = plan_of_channels(LinearRule::ShortConvolution);
  EXPECT_EQ(kept_by(plan, 1), Bytes(4 * 32 * (64 + 3 * 48 + 3 * 48)));
  plan.mesh.tensor = 2;
  EXPECT_EQ(kept_by(plan, 1), Bytes(4 * 32 * (64 + 3 * 24 + 3 * 24)));
}

TEST(WordMemory, InnerNormsKeepWhatTheyRead) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  const Bytes attention = kept_by(plan, 1), feed_forward = kept_by(plan, 1, 1);
  plan.model.inner_norms = true;
  EXPECT_EQ(kept_by(plan, 1) - attention, Bytes(4 * 32 * (64 + 1)));
  EXPECT_EQ(kept_by(plan, 1, 1) - feed_forward, Bytes(4 * 32 * (plan.model.ffn + 1)));
}

// 12 places of 20 numbers: two frames, two rows before and behind the first activation, one before the second.
TEST(WordMemory, SoundKeepsWhatIsConvolved) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = small_pair("bart", {.layers = 1, .decoder_layers = 1});
  plan.model.encoder->frames = 12;
  const Bytes silent = kept_by(plan, 0);
  plan.model.encoder->frame_width = 20;
  EXPECT_EQ(kept_by(plan, 0) - silent, Bytes(4 * 12 * (2 * 20 + 5 * 64)));
}

TEST(WordMemory, ANormedHeadHasItsRowsTwice) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  const int head = static_cast<int>(plan.model.layers) + 1;
  const Bytes plain = kept_by(plan, head);
  plan.model.normed_head = true;
  EXPECT_EQ(kept_by(plan, head) - plain, Bytes(4 * make_model_graph(plan).padded_vocabulary * (64 + 1)));
}

}  // namespace
}  // namespace sim
