#include <gmock/gmock.h>

#include "sim/model/family.h"
#include "sim/model/model_graph.h"

namespace sim {
namespace {

TEST(LlamaFamilies, CapsScalesAndNorms) {
  const auto read = [](const std::string& name) { return load_model_config("profiles/models/" + name + ".json"); };
  const ModelConfig gemma = read("gemma-2-9b");
  EXPECT_EQ(gemma.norm_place, NormPlace::Around);
  EXPECT_EQ(gemma.score_cap, 50);
  EXPECT_EQ(gemma.logit_cap, 30);
  EXPECT_EQ(read("gemma-3-1b").score_cap, 0) << "null switches a cap off";
  EXPECT_EQ(read("gemma-3-1b").local_rope_theta, 10000);
  EXPECT_EQ(read("gemma-7b").embedding_factor, std::sqrt(3072.0));
  EXPECT_EQ(read("olmo-2-7b").qk_norm, QkNorm::Joint);
  EXPECT_EQ(read("olmo-2-7b").norm_place, NormPlace::Behind);
  EXPECT_EQ(read("phi-3-mini-128k").rope_scaling.kind, RopeScalingKind::LongRope);
  EXPECT_EQ(rotary_width(read("glm-4-9b-0414")), 64);
  EXPECT_TRUE(read("qwen2.5-7b").attention_bias && !read("qwen2.5-7b").projection_bias);
}

}  // namespace
}  // namespace sim
