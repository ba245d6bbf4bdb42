#include <gmock/gmock.h>

#include "sim/model/family.h"
#include "sim/model/model_graph.h"

namespace sim {
namespace {

TEST(ExpertFamilies, RoutersAndGates) {
  const auto read = [](const std::string& name) { return load_model_config("profiles/models/" + name + ".json"); };
  const ExpertForm v3 = *read("deepseek-v3").experts;
  EXPECT_EQ(v3.groups, 8);
  EXPECT_EQ(v3.group_topk, 4);
  EXPECT_TRUE(v3.score_correction && v3.renormalised && v3.score == RouterScore::Sigmoid);
  EXPECT_EQ(read("deepseek-v2-lite").experts->score, RouterScore::Softmax);
  EXPECT_TRUE(read("qwen1.5-moe-a2.7b").experts->shared_gate);
  EXPECT_TRUE(read("gpt-oss-20b").experts->biases);
  EXPECT_EQ(read("gpt-oss-20b").experts->expert_ffn, 2880);
  EXPECT_EQ(read("glm-4.5-air").experts->first_dense_layers, 1);
  EXPECT_EQ(read("grok-1").score_cap, 30);
  EXPECT_TRUE(read("grok-1").tied_embeddings);
}

TEST(ExpertFamilies, EverySecondLayerMayHaveExperts) {
  ModelConfig config = load_model_config("profiles/models/qwen3-30b-a3b.json");
  config.experts->every = 2;
  config.experts->dense_layers = {3};
  EXPECT_FALSE(has_experts(config, 0) || has_experts(config, 2) || has_experts(config, 3));
  EXPECT_TRUE(has_experts(config, 1) && has_experts(config, 5));
  EXPECT_EQ(model_config_from_json(to_json(config), "again"), config);
}

}  // namespace
}  // namespace sim
