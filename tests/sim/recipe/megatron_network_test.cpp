#include "sim/recipe/megatron_network.h"

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

ModelConfig network_of(std::map<std::string, std::string> said, std::string* wrong = nullptr) {
  Draft draft;
  draft.said = {{"num-layers", "4"}, {"hidden-size", "512"}, {"num-attention-heads", "8"}, {"seq-length", "64"}};
  for (const auto& [key, value] : said) draft.said[key] = value;
  const ModelConfig model = megatron_network(draft, {}).value_or(ModelConfig{});
  if (wrong != nullptr) *wrong = testing::text_of(draft.wrong);
  return model;
}

TEST(MegatronNetwork, ItsDefaults) {
  const ModelConfig model = network_of({});
  EXPECT_EQ(model.ffn, 2048);
  EXPECT_EQ(model.kv_heads, 8);
  EXPECT_EQ(model.head_dim, 64);
  EXPECT_TRUE(model.tied_embeddings && model.mlp_bias && model.attention_bias);
  EXPECT_EQ(model.residual_dropout, 0.1);
  EXPECT_EQ(model.max_positions, 64);
}

TEST(MegatronNetwork, WhatIsSaid) {
  const ModelConfig model = network_of({{"swiglu", "true"},
                                        {"normalization", "RMSNorm"},
                                        {"position-embedding-type", "rope"},
                                        {"hidden-dropout", "0"},
                                        {"disable-bias-linear", "true"},
                                        {"group-query-attention", "true"},
                                        {"num-query-groups", "2"}});
  EXPECT_EQ(model.ffn, 1344);  // two thirds of 2048, down to a multiple of 64
  EXPECT_EQ(model.kv_heads, 2);
  EXPECT_EQ(model.residual_dropout, 0);
  EXPECT_EQ(model.attention_dropout, 0.1);
  EXPECT_TRUE(model.gated_mlp && !model.mlp_bias && model.position == Position::Rotary);
}

TEST(MegatronNetwork, Experts) {
  const ModelConfig model = network_of({{"num-experts", "8"},
                                        {"moe-layer-freq", "([0]*1+[1]*3)"},
                                        {"moe-ffn-hidden-size", "128"},
                                        {"moe-shared-expert-intermediate-size", "256"},
                                        {"moe-router-pre-softmax", "true"}});
  ASSERT_TRUE(model.experts);
  EXPECT_EQ(model.experts->first_dense_layers, 1);
  EXPECT_EQ(model.experts->shared_experts, 2);
  EXPECT_FALSE(model.experts->renormalised);
  std::string wrong;
  network_of({{"num-experts", "8"}, {"moe-layer-freq", "2"}}, &wrong);
  EXPECT_THAT(wrong, HasSubstr("moe-layer-freq"));
}

TEST(MegatronNetwork, Latent) {
  const ModelConfig model = network_of({{"multi-latent-attention", "true"},
                                        {"kv-lora-rank", "64"},
                                        {"qk-head-dim", "16"},
                                        {"qk-pos-emb-head-dim", "8"},
                                        {"v-head-dim", "16"}});
  EXPECT_EQ(model.attention.kind, AttentionKind::Latent);
  EXPECT_EQ(model.head_dim, 20);
}

}  // namespace
}  // namespace sim
