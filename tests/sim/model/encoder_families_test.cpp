#include <gmock/gmock.h>

#include <algorithm>

#include "class_configs.h"
#include "sim/model/family.h"
#include "sim/model/model_graph.h"

namespace sim {
namespace {

TEST(EncoderFamilies, PositionsTypesAndHead) {
  const ModelConfig roberta = load_model_config("profiles/models/roberta-large.json");
  EXPECT_TRUE(roberta.bidirectional);
  EXPECT_EQ(roberta.max_positions, 512);
  EXPECT_EQ(roberta.position_offset, 2);
  EXPECT_EQ(roberta.token_types, 1);
  const ModelGraph model = make_model_graph(roberta, {128});
  EXPECT_EQ(model.layers.front().parameters[1].rows, 514);
  EXPECT_EQ(model.layers.back().parameters.front().name, "head.transform.weight");
}

// Every query sees every key: nearly twice the work of a decoder.
TEST(EncoderFamilies, AttentionHasAllPairs) {
  ModelConfig config = load_model_config("profiles/models/bert-base-uncased.json");
  const ShardShape shape{.microbatch = 1, .sequence = 512};
  const auto flops = [&] {
    const ModelGraph model = make_model_graph(config, {128});
    for (const Operator& op : model.layer(LayerIndex(1)).segments.front().operators)
      if (op.kind == OperatorKind::Attention) return forward_flops(op, config, shape);
    return Flops(0);
  };
  EXPECT_EQ(flops(), Flops(4.0 * 512 * 512 * 768));
  config.bidirectional = false;
  EXPECT_EQ(flops(), Flops(4.0 * 512 * 513 / 2 * 768));
}

// ModernBERT: the embedding's norm is the first block's; windows reach to both sides, every third block sees all.
TEST(EncoderFamilies, AFirstBlockWithoutANorm) {
  const ModelConfig config = class_config("modernbert");
  EXPECT_EQ(config.window, 129);
  EXPECT_THAT(config.windowed, testing::ElementsAre(false, true, true, false, true, true, false, true));
  const ModelConfig older = class_config("modernbert", R"({"layer_types": null, "rope_parameters": null, "global_attn_every_n_layers": 2,
                                                           "global_rope_theta": 80000.0, "local_rope_theta": 20000.0})");
  EXPECT_THAT(older.windowed, testing::ElementsAre(false, true, false, true, false, true, false, true));
  EXPECT_EQ(older.rope_theta, 80000);
  EXPECT_EQ(older.local_rope_theta, 20000);
  const ModelGraph model = make_model_graph(config, {1});
  const auto norms_in_front = [&](std::int32_t layer) {
    return std::ranges::count(model.layer(LayerIndex(layer)).segments.front().operators, "norm", &Operator::name);
  };
  EXPECT_EQ(norms_in_front(1), 0);
  EXPECT_EQ(norms_in_front(2), 1);
}

const Parameter* find_parameter(const Layer& layer, const std::string& name) {
  const auto found = std::ranges::find(layer.parameters, name, &Parameter::name);
  return found == layer.parameters.end() ? nullptr : &*found;
}

TEST(EncoderFamilies, PositionsOfProteins) {
  const ModelConfig turned = class_config("esm"), table = class_config("esm", R"({"position_embedding_type": "absolute"})");
  EXPECT_EQ(turned.position, Position::Rotary);
  EXPECT_EQ(table.position, Position::Learned);
  EXPECT_EQ(find_parameter(make_model_graph(table, {1}).layers.front(), "embedding.positions.weight")->rows, 1026);
  EXPECT_EQ(model_config_from_json(to_json(table), "written"), table);
  EXPECT_THROW(class_config("esm", R"({"is_folding_model": true})"), InputError);
}

// Tokens in front of the patches: of the class and a teacher, none, and registers, which have no positions.
TEST(EncoderFamilies, TokensInFrontOfPatches) {
  EXPECT_EQ(class_config("deit").patches->tokens(), 14 * 14 + 2);
  EXPECT_EQ(class_config("ijepa").patches->tokens(), 14 * 14);
  const ModelConfig registers = class_config("dinov2_with_registers", R"({"num_register_tokens": 7})");
  EXPECT_EQ(registers.patches->tokens(), 14 * 14 + 1 + 7);
  EXPECT_EQ(registers.max_positions, registers.patches->tokens());
  const ModelGraph model = make_model_graph(registers, {1});
  EXPECT_EQ(find_parameter(model.layers.front(), "embedding.positions.weight")->rows, 14 * 14 + 1);
  EXPECT_EQ(find_parameter(model.layers.front(), "embedding.class.weight")->rows, 8);
  EXPECT_EQ(model_config_from_json(to_json(registers), "written"), registers);
}

// DINOv2: a factor of each channel behind both halves, and a head that reads two tokens' worth.
TEST(EncoderFamilies, FactorsOfChannels) {
  const ModelConfig config = class_config("dinov2");
  const ModelGraph model = make_model_graph(config, {1});
  for (const SegmentGraph& segment : model.layer(LayerIndex(1)).segments)
    EXPECT_EQ(std::ranges::count(segment.operators, "layer_scale", &Operator::name), 1);
  EXPECT_EQ(find_parameter(model.layers.back(), "head.weight")->columns, 2 * config.hidden);
  EXPECT_EQ(config.ffn, 2048) << "two thirds of four widths, beside a gate";
  EXPECT_EQ(class_config("dinov2", R"({"use_swiglu_ffn": false})").ffn, 4 * config.hidden);
}

// GTE: of a feed-forward's products the last one alone has a bias.
TEST(EncoderFamilies, ABiasOfTheLastProductAlone) {
  const Layer block = make_model_graph(class_config("gte"), {1}).layers[1];
  EXPECT_EQ(find_parameter(block, "layers.0.mlp.up.bias"), nullptr);
  EXPECT_NE(find_parameter(block, "layers.0.mlp.down.bias"), nullptr);
}

}  // namespace
}  // namespace sim
