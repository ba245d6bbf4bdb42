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

}  // namespace
}  // namespace sim
