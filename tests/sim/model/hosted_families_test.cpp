#include <gmock/gmock.h>

#include "class_configs.h"
#include "sim/model/config_notes.h"
#include "sim/model/family.h"

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

}  // namespace
}  // namespace sim
