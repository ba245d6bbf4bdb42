#include "sim/cost/row_memory.h"

#include <gtest/gtest.h>

#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

// An encoder's block, and a decoder's layer of two; 16 tokens of the source and 16 of the target, hidden 64, 4 heads, fp32.
ParallelPlan plan_of_stacks(NormPlace place) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model.residual_dropout = plan.model.attention_dropout = plan.model.embedding_dropout = 0;
  plan.model.norm_place = place;
  plan.model.layers = 3;
  plan.model.encoder = EncoderForm{.layers = 1, .decoder_layers = 1};
  plan.model.halves = {BlockHalf::Both, BlockHalf::Mixer, BlockHalf::Both};
  return plan;
}
SegmentMemory attention_of(const ParallelPlan& plan, LayerIndex layer) {
  const ModelGraph model = make_model_graph(plan);
  return segment_memory(model, plan, model.layer(layer).segments.front());
}

constexpr std::int64_t kHidden = 64, kHeads = 4, kOfAttention = kHidden + 3 * kHidden + kHidden + kHeads;

// A copy of its rows in the stream's place.
TEST(RowMemory, ANormKeepsTheRowsThatItReads) {
  const SegmentMemory memory = attention_of(plan_of_stacks(NormPlace::Before), LayerIndex(1));
  EXPECT_EQ(memory.kept + memory.stream, Bytes(4 * 16 * (kOfAttention + kHidden)));
}

// Rows of the source, of which keys and values are made, beside them.
TEST(RowMemory, ADecoderKeepsRowsOfTheSource) {
  const SegmentMemory memory = attention_of(plan_of_stacks(NormPlace::Before), LayerIndex(3));
  EXPECT_EQ(memory.kept + memory.stream, Bytes(4 * 16 * (kOfAttention + 2 * kHidden)));
  EXPECT_GE(memory.forward_temporary, memory.stream);
}

// The sum's rows in front of the norm, and its statistics; nothing else of the stream.
TEST(RowMemory, WhereSumsAreNormedNobodyKeepsTheStream) {
  const SegmentMemory memory = attention_of(plan_of_stacks(NormPlace::AfterSum), LayerIndex(1));
  EXPECT_EQ(memory.kept + memory.stream + memory.statistics, Bytes(4 * 16 * (kOfAttention + kHidden + 2)));
}

TEST(RowMemory, ANetworkWithoutAnEncoderKeepsItsStream) {
  ParallelPlan plan = testing::tiny_plan();
  const ModelGraph model = make_model_graph(plan);
  const SegmentGraph& segment = model.layer(LayerIndex(1)).segments.front();
  SegmentMemory memory;
  add_rows(memory, segment_sizes(model, plan, segment), plan, segment);
  EXPECT_TRUE(memory.tensors.empty());
}

}  // namespace
}  // namespace sim
