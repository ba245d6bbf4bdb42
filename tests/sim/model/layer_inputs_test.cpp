#include "sim/model/layer_inputs.h"

#include <gmock/gmock.h>

#include "configs.h"

namespace sim {
namespace {

using ::testing::IsEmpty;

// Three blocks of hidden 16 that read four numbers each, from a table of 20 rows.
ModelConfig with_inputs() {
  ModelConfig config = small_llama();
  config.layer_inputs = 4, config.layer_vocabulary = 20;
  return config;
}

TEST(LayerInputs, AreMadeForAllBlocksAtOnce) {
  EXPECT_THAT(inputs_of_layers(small_llama()), IsEmpty());
  const std::vector<Operator> made = inputs_of_layers(with_inputs());
  ASSERT_EQ(made.size(), 3u);
  for (const Operator& op : made) EXPECT_EQ(op.outputs, 12) << op.name;
}

TEST(LayerInputs, ParametersAreATableAProductAndTwoOfEachBlock) {
  const auto parameters = [](const ModelConfig& config) { return num_parameters(make_model_graph(config, {1})); };
  const std::int64_t made = 16 * 12 + 4 + 20 * 12, of_block = 16 * 4 + 4 * 16 + 16;
  EXPECT_EQ(parameters(with_inputs()) - parameters(small_llama()), made + 3 * of_block);
}

TEST(LayerInputs, StandBehindTheFeedForward) {
  const ModelGraph model = make_model_graph(with_inputs(), {1});
  const std::vector<Operator>& operators = model.layer(LayerIndex(1)).segments.back().operators;
  EXPECT_EQ(operators.back().name, "layer_residual");
  EXPECT_EQ(operators.back().part + 1, static_cast<std::int32_t>(model.layer(LayerIndex(1)).segments.back().parts.size()));
}

}  // namespace
}  // namespace sim
