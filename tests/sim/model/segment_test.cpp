#include "sim/model/segment.h"

#include <gtest/gtest.h>

#include "configs.h"
#include "sim/model/model_graph.h"

namespace sim {
namespace {

TEST(Segment, OfABlockHaveACoreBetweenSides) {
  const ModelGraph model = make_model_graph(small_gpt2(), {1});
  for (const SegmentGraph& segment : model.layer(LayerIndex(1)).segments) {
    EXPECT_EQ(segment.meets.size() + 1, segment.parts.size());
    EXPECT_TRUE(segment.starts_with_side());
    EXPECT_TRUE(segment.leaves_tensor());
    EXPECT_EQ(segment.first_core(), 1);
    EXPECT_EQ(static_cast<std::size_t>(segment.last_core()) + 2, segment.parts.size());
  }
}

TEST(Segment, TheEndsOfAModelHaveOneSide) {
  const ModelGraph model = make_model_graph(small_gpt2(), {1});
  const SegmentGraph &embedding = model.layers.front().segments[0], &head = model.layers.back().segments[0];
  EXPECT_FALSE(embedding.starts_with_side());
  EXPECT_TRUE(embedding.leaves_tensor());
  EXPECT_TRUE(head.starts_with_side());
  EXPECT_FALSE(head.leaves_tensor());
  EXPECT_TRUE(head.has(OperatorKind::CrossEntropy));
}

// The same operators in other parts are other work for ranks.
TEST(Segment, PartsAndMeetingsTellSegmentsApart) {
  const SegmentGraph mlp = make_model_graph(small_gpt2(), {1}).layer(LayerIndex(1)).segments.back();
  SegmentGraph other = mlp;
  EXPECT_TRUE(are_equal(mlp, other));
  other.operators.front().part = 1;
  EXPECT_FALSE(are_equal(mlp, other));
  other = mlp;
  other.meets.front().width += 1;
  EXPECT_FALSE(are_equal(mlp, other));
}

// Every operator is in a part that is there.
TEST(Segment, EveryOperatorHasItsPart) {
  ModelConfig routed = small_llama();
  routed.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 24, .shared_ffn = 16, .shared_gate = true};
  for (const ModelConfig& config : {small_gpt2(), small_llama(), routed})
    for (const Layer& layer : make_model_graph(config, {1}).layers)
      for (const SegmentGraph& segment : layer.segments)
        for (const Operator& op : segment.operators)
          EXPECT_LE(static_cast<std::size_t>(op.part + op.spans), segment.parts.size()) << op.name;
}

}  // namespace
}  // namespace sim
