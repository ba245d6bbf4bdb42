#include "sim/model/block_sizes_json.h"

#include <gmock/gmock.h>

#include "class_configs.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

std::string fault_of_sizes(const std::string& family, const std::string& changes) {
  try {
    class_config(family, changes);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(BlockSizesJson, HeadsByLayer) {
  const ModelConfig laguna = class_config("laguna");
  EXPECT_EQ(sizes_of(laguna, 0).heads, 48);
  EXPECT_EQ(sizes_of(laguna, 1).heads, 64);
  EXPECT_EQ(sizes_of(laguna, 1).kv_heads, 8);
  const ModelConfig alike = class_config("laguna", R"({"num_attention_heads_per_layer": [48, 48, 48, 48, 48, 48, 48, 48]})");
  EXPECT_TRUE(alike.sizes.empty());
  EXPECT_THAT(fault_of_sizes("laguna", R"({"num_attention_heads_per_layer": [48]})"), HasSubstr("is no list of 8 numbers"));
  EXPECT_THAT(fault_of_sizes("laguna", R"({"num_attention_heads_per_layer": [48, 48, 48, 48, 48, 48, 48, 47]})"),
              HasSubstr("a block has 8 for 47 heads of queries"));
}

TEST(BlockSizesJson, GatesAreOfHeadsOrElements) {
  EXPECT_TRUE(class_config("laguna").head_gate);
  EXPECT_FALSE(class_config("laguna", R"({"gating": "per-element"})").head_gate);
}

TEST(BlockSizesJson, WidthsAreRoundedToADivisor) {
  const ModelConfig config = class_config("openelm");
  EXPECT_EQ(sizes_of(config, 0).ffn, 768) << "1280 / 2 is between 512 and 768";
  EXPECT_EQ(sizes_of(config, 1).ffn, 1024);
  EXPECT_EQ(sizes_of(config, 15).ffn, 5120);
  EXPECT_EQ(config.heads, 20) << "the widest stands for all";
  EXPECT_THAT(fault_of_sizes("openelm", R"({"ffn_multipliers": [0.5]})"), HasSubstr("is no list of 16 numbers"));
}

TEST(BlockSizesJson, BlocksMayLackAHalf) {
  const ModelConfig config = class_config("nemotron-nas");
  EXPECT_EQ(half_of(config, 2), BlockHalf::FeedForward);
  EXPECT_EQ(half_of(config, 5), BlockHalf::Mixer);
  EXPECT_EQ(half_of(config, 0), BlockHalf::Both);
  EXPECT_EQ(sizes_of(config, 4).kv_heads, 4);
  EXPECT_EQ(sizes_of(config, 0).ffn, 14336);
  const std::string one = R"({"num_hidden_layers": 1, "block_configs": [)", attends = R"({"attention": {"n_heads_in_group": 8}, "ffn": )",
                    bare = R"({"attention": {"no_op": true}, "ffn": {"no_op": true}}]})";
  EXPECT_THAT(fault_of_sizes("nemotron-nas", one + bare), HasSubstr("a block with nothing"));
  EXPECT_THAT(fault_of_sizes("nemotron-nas", one + attends + R"({"replace_with_linear": true, "ffn_mult": 1}}]})"),
              HasSubstr("not supported"));
  EXPECT_THAT(fault_of_sizes("nemotron-nas", R"({"num_hidden_layers": 9})"), HasSubstr("has 8 blocks of 9"));
}

}  // namespace
}  // namespace sim
