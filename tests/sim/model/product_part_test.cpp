#include "sim/model/product_part.h"

#include <gmock/gmock.h>

#include <set>

#include "sim/model/model_graph.h"

namespace sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A block of experts behind one that is dense.
ModelConfig blocks_with_experts() {
  ModelConfig config;
  config.model_type = "mixtral";
  config.layers = 2;
  config.hidden = 32;
  config.heads = 4;
  config.kv_heads = 2;
  config.head_dim = 8;
  config.ffn = 64;
  config.gated_mlp = true;
  config.vocabulary = 100;
  config.max_positions = 32;
  config.tied_embeddings = false;
  config.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 16, .shared_ffn = 24};
  config.experts->first_dense_layers = 1;
  return config;
}

ProductParts parts_as(std::string_view text) {
  const auto parts = parse_product_parts(text);
  EXPECT_TRUE(parts) << text;
  return parts.value_or(ProductParts());
}

ModelGraph graph_without(std::string_view text, const ModelConfig& config = blocks_with_experts()) {
  ModelGraph model = make_model_graph(config, {1});
  leave_unscaled(model, parts_as(text));
  return model;
}

// Products that have scales, by name; weights that have.
std::set<std::string> scaled_products(const ModelGraph& model) {
  std::set<std::string> names;
  for (LayerIndex layer(1); layer < model.head(); ++layer)
    for (const SegmentGraph& segment : model.layer(layer).segments)
      for (const Operator& op : segment.operators)
        if (op.kind == OperatorKind::Linear && !op.unscaled) names.insert(op.name);
  return names;
}
std::int64_t unscaled_weights(const ModelGraph& model) {
  std::int64_t found = 0;
  for (LayerIndex layer(1); layer < model.head(); ++layer)
    for (const Parameter& parameter : model.layer(layer).parameters) found += parameter.unscaled && parameter.columns > 1 ? 1 : 0;
  return found;
}

TEST(ProductPart, TextReadsBack) {
  for (const std::string text : {"attention", "keys", "mlp,experts", "keys,experts", "attention,mlp,experts"})
    EXPECT_EQ(to_text(parts_as(text)), text);
  EXPECT_EQ(to_text(parts_as("keys,attention")), "attention") << "which keys are of";
  for (const std::string_view text : {"", "norms", "attention,head", "attention, mlp"}) EXPECT_FALSE(parse_product_parts(text)) << text;
  EXPECT_TRUE(parts_as("attention").has(ProductPart::Keys));
  EXPECT_FALSE(parts_as("keys").has(ProductPart::Attention));
}

TEST(ProductPart, EachLeavesItsOwnProducts) {
  EXPECT_THAT(scaled_products(graph_without("attention")),
              ElementsAre("down", "expert_down", "expert_up", "shared_down", "shared_up", "up"));
  EXPECT_THAT(scaled_products(graph_without("mlp")), ElementsAre("expert_down", "expert_up", "projection", "qkv"));
  EXPECT_THAT(scaled_products(graph_without("experts")), ElementsAre("down", "projection", "qkv", "shared_down", "shared_up", "up"));
  EXPECT_THAT(scaled_products(graph_without("attention,mlp,experts")), IsEmpty());
}

TEST(ProductPart, WeightsGoWithTheirProducts) {
  EXPECT_EQ(unscaled_weights(graph_without("attention")), 4);
  EXPECT_EQ(unscaled_weights(graph_without("experts")), 2);
  EXPECT_EQ(unscaled_weights(graph_without("keys")), 0) << "columns of a joint weight";
}

TEST(ProductPart, KeysAreColumnsOfAJointProduct) {
  const ModelGraph model = graph_without("keys");
  const std::vector<Operator>& attention = model.layer(LayerIndex(1)).segments.front().operators;
  const auto qkv = std::find_if(attention.begin(), attention.end(), [](const Operator& op) { return op.name == "qkv"; });
  EXPECT_FALSE(qkv->unscaled);
  EXPECT_EQ(qkv->unscaled_outputs, 2 * 2 * 8) << "keys and values of two heads";
}

}  // namespace
}  // namespace sim
