#include "sim/model/gpt_parts_json.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "class_configs.h"

namespace sim {
namespace {

using ::testing::ElementsAre;

TEST(GptParts, PatternsOfGptNeoAreUnrolled) {
  EXPECT_THAT(class_config("gpt_neo").windowed, ElementsAre(false, true, false, true, false, true, false, true));
  EXPECT_EQ(class_config("gpt_neo").window, 256);
  EXPECT_EQ(class_config("gpt_neo").score_scale, 1);
  EXPECT_EQ(class_config("gpt_neo", R"({"attention_types": [[["global"], 8]]})").window, 0);
  EXPECT_TRUE(class_config("gpt_neo", R"({"attention_types": [[["local"], 8]]})").windowed.empty());
}

TEST(GptParts, APatternOfOtherLayersIsRefused) {
  for (const char* types : {R"([[["global", "local"], 3]])", R"(["global"])", R"([[["local"], 100000000]])", "3"})
    EXPECT_THROW(class_config("gpt_neo", fmt::format(R"({{"attention_types": {}}})", types)), InputError) << types;
}

TEST(GptParts, WidthsOfMosaic) {
  EXPECT_EQ(class_config("mpt").ffn, 4 * 2048);
  EXPECT_TRUE(class_config("mpt", R"({"no_bias": false})").mlp_bias);
  const ModelConfig routed = class_config("dbrx", R"({"ffn_config": {"ffn_hidden_size": 1024, "moe_num_experts": 16, "moe_top_k": 4}})");
  EXPECT_EQ(routed.experts->expert_ffn, 1024);
  EXPECT_EQ(routed.experts->topk, 4);
  EXPECT_FALSE(routed.experts->renormalised);
  EXPECT_THROW(class_config("dbrx", R"({"ffn_config": {"moe_num_experts": 2, "moe_top_k": 4}})"), InputError);
}

}  // namespace
}  // namespace sim
