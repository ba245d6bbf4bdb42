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

}  // namespace
}  // namespace sim
