#include <gmock/gmock.h>

#include "class_configs.h"
#include "sim/model/model_graph.h"

namespace sim {
namespace {

TEST(SizedFamilies, KeysAreDoubledUnderAWindow) {
  const ModelConfig config = class_config("mimo_v2_flash");
  EXPECT_EQ(sizes_of(config, 0).kv_heads, 4);
  EXPECT_EQ(sizes_of(config, 1).kv_heads, 8);
  EXPECT_EQ(sizes_of(config, 5).kv_heads, 4) << "each sixth block sees all";
  EXPECT_EQ(config.value_dim, 128);
  EXPECT_EQ(rotary_width(config), 64);
}

TEST(SizedFamilies, TurnsDifferByKindOfBlock) {
  const ModelConfig config = class_config("laguna");
  EXPECT_EQ(config.rope_theta, 500000);
  EXPECT_EQ(config.local_rope_theta, 10000);
  EXPECT_EQ(rotary_width(in_block(config, 0)), 64);
  EXPECT_EQ(rotary_width(in_block(config, 1)), 128);
}

// With biases of queries, keys and values a gate of a softplus has none.
TEST(SizedFamilies, GatesHaveNoBiases) {
  const auto parameters = [](const ModelConfig& config) { return num_parameters(make_model_graph(config, {1})); };
  const ModelConfig plain = class_config("laguna"), biased = class_config("laguna", R"({"attention_bias": true})");
  std::int64_t more = 0;
  for (std::int64_t block = 0; block < plain.layers; ++block) {
    const BlockSizes sizes = sizes_of(plain, block);
    more += (sizes.heads + 2 * sizes.kv_heads) * sizes.head_dim + plain.hidden;
  }
  EXPECT_EQ(parameters(biased) - parameters(plain), more);
}

TEST(SizedFamilies, BlocksThatSeeAllHaveWiderHeads) {
  const ModelConfig unified = class_config("gemma4_unified_text");
  EXPECT_EQ(sizes_of(unified, 0).head_dim, 256);
  EXPECT_EQ(sizes_of(unified, 5).head_dim, 512);
  EXPECT_EQ(sizes_of(unified, 5).kv_heads, 4);
  EXPECT_EQ(sizes_of(unified, 7).kv_heads, 4) << "the last block sees all";
  EXPECT_TRUE(in_block(unified, 5).keys_as_values);
  EXPECT_FALSE(in_block(unified, 0).keys_as_values);
  EXPECT_EQ(unified.layer_inputs, 0);
  const ModelConfig older =
      class_config("gemma4_unified_text", R"({"per_layer_config": null, "global_head_dim": 384, "num_global_key_value_heads": 2})");
  EXPECT_EQ(sizes_of(older, 5).head_dim, 384);
  EXPECT_EQ(sizes_of(older, 5).kv_heads, 2);
}

// Of ten blocks and more Transformers writes "05".
TEST(SizedFamilies, KeysOfBlocksAreNumbers) {
  const ModelConfig plain = class_config("gemma4_text", R"({"per_layer_config": {"2": {"head_dim": 512}, "5": {"head_dim": 512}}})");
  EXPECT_EQ(class_config("gemma4_text", R"({"per_layer_config": {"02": {"head_dim": 512}, "05": {"head_dim": 512}}})"), plain);
  EXPECT_EQ(sizes_of(plain, 5).head_dim, 512);
}

// Where no reader takes them, the network would be another one.
TEST(SizedFamilies, SizesOfSingleBlocksAreNotPassedBy) {
  EXPECT_THROW(class_config("arcee", R"({"per_layer_config": {"3": {"intermediate_size": 64}}})"), InputError);
  EXPECT_EQ(class_config("arcee", R"({"per_layer_config": {}})"), class_config("arcee"));
}

TEST(SizedFamilies, LastBlocksReadKeysOfOthers) {
  const ModelConfig small = class_config("gemma4_text");
  EXPECT_FALSE(reads_keys_before(small, 5));
  EXPECT_TRUE(reads_keys_before(small, 6));
  EXPECT_EQ(sizes_of(small, 6).ffn, 2 * sizes_of(small, 5).ffn);
  const Heads own = heads_of(in_block(small, 5)), read = heads_of(in_block(small, 6));
  EXPECT_EQ(own.columns(), 8 * 512 + 2 * 512);
  EXPECT_EQ(read.columns(), 8 * 256);
  EXPECT_THROW(class_config("gemma4_text", R"({"num_kv_shared_layers": 8})"), InputError) << "nobody makes keys";
  EXPECT_THROW(class_config("gemma4_text", R"({"enable_moe_block": true})"), InputError);
}

// As torch's counter has them of a forward of two samples of 64 tokens (transformers_test.py).
TEST(SizedFamilies, ProductsAreThoseOfTheirClasses) {
  const Json expected = load_json_file("tests/sim/model/flops.json");
  EXPECT_EQ(expected.size(), 4u);
  for (const auto& [family, one] : expected.items()) {
    ModelConfig config = model_config_from_json(one["config"], family);
    const auto forward = [&] { return model_flops(make_model_graph(config, {1}), {.global_batch = 2, .sequence = 64}).value() / 3; };
    EXPECT_DOUBLE_EQ(forward(), one["flops"].get<double>()) << family;
    config.sizes.clear();
    EXPECT_NE(forward(), one["flops"].get<double>()) << family;
  }
}

// The table tells a word that is left out.
TEST(SizedFamilies, APlantedFaultIsSeenInTheNumber) {
  const auto differs = [](const char* family, void (*plant)(ModelConfig&)) {
    ModelConfig config = class_config(family);
    const std::int64_t right = num_parameters(make_model_graph(config, {1}));
    plant(config);
    return num_parameters(make_model_graph(config, {1})) != right;
  };
  for (const char* family : {"laguna", "mimo_v2_flash", "openelm", "nemotron-nas"})
    EXPECT_TRUE(differs(family, [](ModelConfig& c) { c.sizes.clear(); })) << family;
  EXPECT_TRUE(differs("mimo_v2_flash", [](ModelConfig& c) { c.value_dim = 0; }));
  EXPECT_TRUE(differs("mimo_v2_flash", [](ModelConfig& c) { c.sinks_in_windows = false; }));
  EXPECT_TRUE(differs("laguna", [](ModelConfig& c) { c.head_gate = false; }));
  EXPECT_TRUE(differs("gemma4_text", [](ModelConfig& c) { c.shared_kv_layers = 0; }));
  EXPECT_TRUE(differs("gemma4_text", [](ModelConfig& c) { c.layer_inputs = 128; }));
  EXPECT_TRUE(differs("gemma4_unified_text", [](ModelConfig& c) { c.keys_as_values = false; }));
}

}  // namespace
}  // namespace sim
