#include <gmock/gmock.h>

#include "class_configs.h"
#include "sim/model/config_notes.h"
#include "sim/model/family.h"
#include "sim/model/model_graph.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

TEST(HostedFamilies, NamesOfTheirOwnSaySizes) {
  const ModelConfig qwen = class_config("qwen");
  EXPECT_EQ(qwen.ffn, 11008);
  EXPECT_TRUE(qwen.attention_bias && !qwen.projection_bias);
  EXPECT_EQ(to_json(qwen)["intermediate_size"], 22016);
  EXPECT_THROW(class_config("qwen", R"({"intermediate_size": 22017})"), InputError);
  EXPECT_THROW(class_config("qwen", R"({"no_bias": false})"), InputError);
  const ModelConfig glm = class_config("chatglm", R"({"rope_ratio": 500})");
  EXPECT_EQ(glm.kv_heads, 2);
  EXPECT_EQ(glm.rope_theta, 5e6);
  EXPECT_EQ(glm.rotary_share, 0.5);
  EXPECT_THROW(class_config("chatglm", R"({"multi_query_attention": false})"), InputError);
  EXPECT_THROW(class_config("chatglm", R"({"position_encoding_2d": true})"), InputError) << "THUDM/chatglm-6b, before ChatGLM 2";
  EXPECT_EQ(class_config("orion").norm, Norm::LayerNorm);
}

TEST(HostedFamilies, RoutersOfLing) {
  const ModelConfig first = class_config("bailing_moe"), second = class_config("bailing_moe_v2");
  EXPECT_EQ(first.experts->score, RouterScore::Softmax);
  EXPECT_EQ(first.experts->shared_ffn, 2 * 1408);
  EXPECT_FALSE(first.experts->score_correction);
  EXPECT_EQ(second.experts->score, RouterScore::Sigmoid);
  EXPECT_TRUE(second.experts->score_correction);
  EXPECT_EQ(second.experts->groups, 8);
  EXPECT_EQ(second.qk_norm, QkNorm::Heads);
}

// What predicts further tokens is told, as of families that Transformers has.
TEST(HostedFamilies, LayersThatPredictFurtherTokensAreTold) {
  Json config = load_json_file("tests/sim/model/families.json")["mimo"]["config"];
  const std::vector<Violation> notes = config_notes_of(config);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0].problem, HasSubstr("MTP"));
}

TEST(HostedFamilies, BaichuanTurnsOrHasSlopes) {
  const ModelConfig large = class_config("baichuan");
  EXPECT_EQ(large.position, Position::Alibi);
  EXPECT_EQ(large.max_positions, 4096);
  EXPECT_TRUE(large.normed_head);
  const ModelConfig small = class_config("baichuan", R"({"max_position_embeddings": 4096, "hidden_size": 4096, "intermediate_size": 11008,
      "num_attention_heads": 32, "num_hidden_layers": 32})");
  EXPECT_EQ(small.position, Position::Rotary);
  EXPECT_NEAR(static_cast<double>(num_parameters(make_model_graph(small, {1}))) / 1e9, 7.51, 0.01) << "Baichuan2-7B";
  EXPECT_EQ(model_config_from_json(to_json(small), "again"), small);
  const ModelConfig ling = class_config("bailing_moe", R"({"norm_head": true, "hidden_size": 5376, "intermediate_size": 12288,
      "moe_intermediate_size": 3072, "num_shared_experts": 1, "num_attention_heads": 42, "num_experts_per_tok": 4, "num_hidden_layers": 88,
      "num_key_value_heads": 6})");
  EXPECT_TRUE(ling.normed_head);
  EXPECT_NEAR(static_cast<double>(num_parameters(make_model_graph(ling, {1}))) / 1e9, 293, 3) << "Ling-plus";
  EXPECT_FALSE(class_config("bailing_moe").normed_head);
}

}  // namespace
}  // namespace sim
