#include <gmock/gmock.h>

#include "class_configs.h"
#include "sim/model/family.h"
#include "sim/model/model_graph.h"

namespace sim {
namespace {

using ::testing::ElementsAre;

TEST(RotaryFamilies, NormsAndBlocks) {
  EXPECT_TRUE(class_config("cohere").parallel_blocks && class_config("cohere").shared_norm);
  EXPECT_FALSE(class_config("cohere").norm_bias);
  EXPECT_EQ(class_config("cohere").logit_factor, 0.0625);
  EXPECT_THAT(class_config("cohere2").unturned, ElementsAre(false, false, false, true, false, false, false, true));
  EXPECT_TRUE(class_config("nemotron").offset_norm);
  EXPECT_FALSE(class_config("stablelm").shared_norm);
  EXPECT_TRUE(class_config("stablelm", R"({"use_parallel_residual": true})").shared_norm);
  EXPECT_EQ(class_config("openai-gpt").norm_place, NormPlace::AfterSum);
}

TEST(RotaryFamilies, PositionsAndHeads) {
  EXPECT_EQ(rotary_width(class_config("gptj")), 64) << "of 256";
  EXPECT_EQ(rotary_width(class_config("stablelm")), 20);
  EXPECT_EQ(class_config("gpt_bigcode").kv_heads, 1);
  EXPECT_EQ(class_config("gpt_bigcode", R"({"multi_query": false, "num_key_value_heads": null})").kv_heads, 12);
  EXPECT_EQ(class_config("mpt").position, Position::Alibi);
  EXPECT_EQ(class_config("mpt", R"({"attn_config": {"alibi": false}})").position, Position::Learned);
  EXPECT_EQ(class_config("dbrx").kv_heads, 8);
  EXPECT_EQ(class_config("dbrx").experts->experts, 4);
}

// Norms of heads with means have a weight and a bias each, of queries and of keys.
TEST(RotaryFamilies, NormsOfHeadsAreTheNetworksOwn) {
  const auto parameters = [](const ModelConfig& config) { return num_parameters(make_model_graph(config, {1})); };
  const ModelConfig plain = class_config("phi"), normed = class_config("phi", R"({"qk_layernorm": true})");
  EXPECT_EQ(parameters(normed) - parameters(plain), plain.layers * 4 * plain.head_dim);
}

// A network that the words do not say is refused by the key that says it.
TEST(RotaryFamilies, OtherNetworksAreRefused) {
  EXPECT_THROW(class_config("stablelm", R"({"qk_layernorm": true})"), InputError);
  EXPECT_THROW(class_config("cohere", R"({"use_qk_norm": true})"), InputError);
  EXPECT_THROW(class_config("mpt", R"({"attn_config": {"qk_ln": true}})"), InputError);
}

}  // namespace
}  // namespace sim
