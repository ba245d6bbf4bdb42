#include "sim/model/token_prediction.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

// DeepSeek-V3 (2024), section 4.2: 671 billion parameters, and 14 more of its own for the one module that predicts a further token (embedding and head
// are shared with the network).
TEST(TokenPrediction, HasThePublishedParameters) {
  ModelConfig config = load_model_config("profiles/models/deepseek-v3.json");
  const auto billions = [&] { return static_cast<double>(num_parameters(make_model_graph(config, {1}))) / 1e9; };
  const double without = billions();
  config.mtp_layers = 1;
  EXPECT_NEAR(billions() - without, 11.6, 0.1) << "14 with 1.85 of a table and a head of its own each, where they are stored";
}

TEST(TokenPrediction, StandsInFrontOfTheHeadWhichIsComputedOnceMore) {
  ModelConfig config = load_model_config("profiles/models/llama-3.1-8b.json");
  const ModelGraph without = make_model_graph(config, {1});
  config.mtp_layers = 2;
  const ModelGraph with = make_model_graph(config, {1});
  const Layer& head = with.layer(with.head());
  EXPECT_EQ(head.segments.size(), 2u * 3 + 1);
  EXPECT_EQ(head.segments.front().name, Operation::Mtp);
  EXPECT_EQ(head.segments.back().name, Operation::Head);
  EXPECT_EQ(head.segments.back().operators.size(), 3 * without.layer(without.head()).segments.back().operators.size());
  EXPECT_EQ(with.num_blocks(), without.num_blocks());
  EXPECT_EQ(with.kinds.size(), without.kinds.size());
}

TEST(TokenPrediction, ApartItIsALayerOfItsOwnInFrontOfTheHead) {
  ModelConfig config = load_model_config("profiles/models/llama-3.1-8b.json");
  config.mtp_layers = 2;
  const ModelGraph beside = make_model_graph(config, {1});
  config.mtp_apart = true;
  const ModelGraph apart = make_model_graph(config, {1});
  const Layer &head = apart.layer(apart.head()), &predictions = apart.layer(LayerIndex(apart.head().value() - 1));
  EXPECT_EQ(apart.layers.size(), beside.layers.size() + 1);
  EXPECT_EQ(apart.num_blocks(), beside.num_blocks());
  EXPECT_EQ(predictions.segments.size(), 2u * 3);
  EXPECT_EQ(head.segments.size(), 1u) << "the losses of all depths are the head's";
  EXPECT_TRUE(are_equal(head.segments.front(), beside.layer(beside.head()).segments.back()));
  EXPECT_EQ(num_parameters(apart), num_parameters(beside));
}

}  // namespace
}  // namespace sim
