#include "sim/model/block_parts_json.h"

#include <gmock/gmock.h>

#include "sim/model/model_graph.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::int64_t> windows_of(const std::string& family, const std::string& more) {
  const std::string text = R"({"model_type": ")" + family + R"(", "num_hidden_layers": 6, "hidden_size": 64, "num_attention_heads": 4,
      "intermediate_size": 128, "vocab_size": 100, "num_key_value_heads": 4)" +
                           more + "}";
  const ModelConfig config = model_config_from_json(parse_json(text, "config.json"), "config.json");
  EXPECT_EQ(model_config_from_json(to_json(config), "again"), config) << text;
  std::vector<std::int64_t> windows;
  for (std::int64_t block = 0; block < 6; ++block) windows.push_back(window_of(config, block));
  return windows;
}

// As the classes of Transformers make `layer_types`.
TEST(BlockParts, WindowsByLayer) {
  EXPECT_THAT(windows_of("mistral", ""), ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_THAT(windows_of("mistral", R"(, "sliding_window": 8)"), ElementsAre(8, 8, 8, 8, 8, 8));
  EXPECT_THAT(windows_of("qwen2", R"(, "sliding_window": 8, "max_window_layers": 4)"), ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_THAT(windows_of("qwen2", R"(, "use_sliding_window": true, "sliding_window": 8, "max_window_layers": 4)"),
              ElementsAre(0, 0, 0, 0, 8, 8));
  EXPECT_THAT(windows_of("gemma2", R"(, "sliding_window": 8)"), ElementsAre(8, 0, 8, 0, 8, 0));
  EXPECT_THAT(windows_of("gemma2", R"(, "sliding_window": null)"), ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_THAT(windows_of("gemma3_text", R"(, "sliding_window": 8, "sliding_window_pattern": 3)"), ElementsAre(8, 8, 0, 8, 8, 0));
  EXPECT_THAT(windows_of("gemma2", R"(, "layer_types": ["full_attention", "full_attention", "full_attention", "full_attention",
                                      "full_attention", "sliding_attention"])"),
              ElementsAre(0, 0, 0, 0, 0, 4096));
}

TEST(BlockParts, LayerTypesOfAnotherSortAreRefused) {
  try {
    windows_of("gemma2", R"(, "layer_types": ["linear_attention"])");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/layer_types: is no list of sliding_attention and full_attention"));
  }
}

TEST(BlockParts, BlocksWithAndWithoutWindowAreTwoKinds) {
  const ModelConfig config = load_model_config("profiles/models/gemma-2-9b.json");
  const ModelGraph model = make_model_graph(config, {128});
  EXPECT_EQ(model.firsts.size(), 4u);
  EXPECT_NE(model.kind(LayerIndex(1)), model.kind(LayerIndex(2)));
  EXPECT_EQ(model.kind(LayerIndex(1)), model.kind(LayerIndex(3)));
}

TEST(BlockPartsJson, Llama4TurnsWhatSeesItsPiece) {
  const ModelConfig config = load_model_config("profiles/models/llama-4-scout-17b-16e.json");
  EXPECT_EQ(window_of(config, 0), 8192);
  EXPECT_EQ(window_of(config, 3), 0);
  EXPECT_TRUE(config.chunked && config.unturned[3] && !config.unturned[0]);
  EXPECT_EQ(config.experts->shared_ffn, 8192);
  EXPECT_EQ(config.ffn, 16384);
  const ModelConfig maverick = load_model_config("profiles/models/llama-4-maverick-17b-128e.json");
  EXPECT_EQ(maverick.qk_norm, QkNorm::None);
  EXPECT_EQ(maverick.experts->every, 2);
  EXPECT_EQ(model_config_from_json(to_json(config), "again"), config);
}

TEST(BlockPartsJson, GraniteMultiplies) {
  const ModelConfig config = load_model_config("profiles/models/granite-3.1-8b.json");
  EXPECT_DOUBLE_EQ(config.score_scale, 16384) << "1 / 0.0078125^2: the square of a head's 128";
  EXPECT_DOUBLE_EQ(config.logit_factor, 1.0 / 16);
  EXPECT_DOUBLE_EQ(config.residual_factor, 0.22);
}

TEST(BlockPartsJson, DenseHybridsHaveTheSharedWidth) {
  Json json = load_json_file("profiles/models/granite-4.0-h-small.json");
  json["num_local_experts"] = 0;
  const ModelConfig config = model_config_from_json(json, "config.json");
  EXPECT_FALSE(config.experts);
  EXPECT_EQ(config.ffn, 1536);
  EXPECT_EQ(config.position, Position::None);
  EXPECT_EQ(model_config_from_json(to_json(config), "again"), config);
}

}  // namespace
}  // namespace sim
