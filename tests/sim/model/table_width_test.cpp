#include "sim/model/table_width.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "class_configs.h"
#include "sim/model/model_graph.h"

namespace sim {
namespace {

const Parameter* parameter_of(const Layer& layer, const std::string& name) {
  const auto found = std::ranges::find(layer.parameters, name, &Parameter::name);
  return found == layer.parameters.end() ? nullptr : &*found;
}

// ELECTRA: all of the embedding is as wide as the token table, and the head's product leads back to it. Where both widths are one it is BERT's.
TEST(TableWidth, AllThatStandsBesideANarrowTableIsNarrow) {
  const ModelConfig config = class_config("electra");
  EXPECT_EQ(config.embedding_width, 128);
  const ModelGraph model = make_model_graph(config, {1});
  for (const char* name : {"embedding.positions.weight", "embedding.types.weight", "embedding.tokens.weight"})
    EXPECT_EQ(parameter_of(model.layers.front(), name)->columns, 128) << name;
  EXPECT_EQ(parameter_of(model.layers.front(), "embedding.norm.weight")->rows, 128);
  EXPECT_EQ(parameter_of(model.layers.front(), "embedding.widening.bias")->rows, 256);
  EXPECT_EQ(parameter_of(model.layers.back(), "head.transform.weight")->rows, 128);
  EXPECT_EQ(parameter_of(model.layers.back(), "head.narrowing.weight"), nullptr);
  const ModelConfig wide = class_config("electra", R"({"embedding_size": 256})");
  EXPECT_FALSE(wide.narrow_tables);
  EXPECT_EQ(wide.embedding_width, 0);
  EXPECT_EQ(model_config_from_json(to_json(wide), "written"), wide);
}

// OPT of 350 million: products without biases lead from the table and back, and positions are as wide as the blocks.
TEST(TableWidth, AWideStreamBehindANarrowTable) {
  const ModelConfig config = load_model_config("profiles/models/opt-350m.json");
  EXPECT_EQ(table_width(config), 512);
  EXPECT_EQ(width_at_table(config), config.hidden);
  const ModelGraph model = make_model_graph(config, {1});
  EXPECT_EQ(parameter_of(model.layers.front(), "embedding.widening.bias"), nullptr);
  EXPECT_EQ(parameter_of(model.layers.front(), "embedding.positions.weight")->columns, config.hidden);
  EXPECT_EQ(parameter_of(model.layers.back(), "head.narrowing.weight")->rows, 512);
}

}  // namespace
}  // namespace sim
