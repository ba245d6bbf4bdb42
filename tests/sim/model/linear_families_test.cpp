#include <gmock/gmock.h>

#include <algorithm>

#include "class_configs.h"
#include "sim/model/family.h"
#include "sim/model/model_graph.h"

namespace sim {
namespace {

ModelConfig hybrid_of(const std::string& name) { return load_model_config("profiles/models/" + name + ".json"); }

TEST(LinearFamilies, RulesOfTheirLayers) {
  EXPECT_EQ(hybrid_of("qwen3-next-80b-a3b").linear->rule, LinearRule::GatedDelta);
  EXPECT_EQ(hybrid_of("bamba-9b").linear->rule, LinearRule::StateSpace);
  EXPECT_EQ(hybrid_of("kimi-linear-48b-a3b").linear->rule, LinearRule::ChannelDelta);
  EXPECT_FALSE(hybrid_of("granite-3.1-8b").linear);
}

TEST(LinearFamilies, WhatTheClassesTakeWhereTheFileIsSilent) {
  const ModelConfig next = hybrid_of("qwen3.5-27b");
  EXPECT_TRUE(next.attention_gate && next.offset_norm && next.qk_norm == QkNorm::Heads);
  EXPECT_EQ(next.rotary_share, 0.25);
  EXPECT_FALSE(next.experts);
  EXPECT_TRUE(hybrid_of("qwen3.5-397b-a17b").experts->shared_gate);
  EXPECT_EQ(hybrid_of("nemotron-h-8b").activation, Activation::SquaredRelu);
  EXPECT_EQ(hybrid_of("mamba2-2.7b").position, Position::None);
  EXPECT_EQ(hybrid_of("bamba-9b").rotary_share, 0.5);
  EXPECT_EQ(hybrid_of("kimi-linear-48b-a3b").experts->score, RouterScore::Sigmoid);
}

// The cards of their publishers: billions in all.
TEST(LinearFamilies, AreAsLargeAsTheirNamesSay) {
  const std::pair<const char*, double> kPublished[] = {{"qwen3-next-80b-a3b", 80},
                                                       {"qwen3.5-27b", 27},
                                                       {"qwen3.5-397b-a17b", 397},
                                                       {"bamba-9b", 9.8},
                                                       {"nemotron-h-8b", 8.1},
                                                       {"nemotron-3-nano-30b-a3b", 31.6},
                                                       {"mamba2-2.7b", 2.7},
                                                       {"granite-4.0-h-small", 32},
                                                       {"kimi-linear-48b-a3b", 49},
                                                       {"llama-4-scout-17b-16e", 108},
                                                       {"llama-4-maverick-17b-128e", 401}};
  for (const auto& [name, billions] : kPublished) {
    const auto count = static_cast<double>(num_parameters(make_model_graph(hybrid_of(name), {1})));
    EXPECT_NEAR(count / 1e9 / billions, 1, 0.01) << name;
  }
}

// Sizes of their published files in the place of what their classes take.
TEST(LinearFamilies, ClassesAreAsLargeAsTheCardsOfTheirPublishersSay) {
  struct Published {
    const char *family, *sizes;
    double billions;
  };
  const Published kPublished[] = {
      {"mamba", R"({"hidden_size": 2560, "num_hidden_layers": 64, "time_step_rank": "auto"})", 2.77},
      {"falcon_mamba",
       R"({"hidden_size": 4096, "num_hidden_layers": 64, "time_step_rank": 256, "vocab_size": 65024, "tie_word_embeddings": false})", 7.27},
      {"jamba", R"({"num_hidden_layers": 32})", 51.6},
      {"falcon_h1",
       R"({"hidden_size": 3072, "num_hidden_layers": 44, "intermediate_size": 12288, "num_attention_heads": 12, "head_dim": 128,
         "num_key_value_heads": 2, "mamba_d_head": 128, "mamba_rms_norm": false, "vocab_size": 130048})",
       7.59},
      {"lfm2",
       R"({"hidden_size": 2048, "num_hidden_layers": 16, "conv_bias": false, "layer_types": null, "full_attn_idxs": [2, 5, 8, 10, 12, 14]})",
       1.17}};
  for (const auto& [family, sizes, billions] : kPublished) {
    const auto count = static_cast<double>(num_parameters(make_model_graph(class_config(family, sizes), {1})));
    EXPECT_NEAR(count / 1e9 / billions, 1, 0.01) << family;
  }
}

// OLMo Hybrid: norms in front of scans, behind attention.
TEST(LinearFamilies, NormsStandByTheKindOfBlock) {
  const ModelConfig config = class_config("olmo_hybrid");
  const ModelGraph model = make_model_graph(config, {1});
  const auto has = [&](std::int32_t layer, const char* name) {
    return std::ranges::find(model.layer(LayerIndex(layer)).segments.front().operators, name, &Operator::name) !=
           model.layer(LayerIndex(layer)).segments.front().operators.end();
  };
  EXPECT_TRUE(has(1, "norm"));
  EXPECT_FALSE(has(1, "norm_behind"));
  EXPECT_FALSE(has(4, "norm"));
  EXPECT_TRUE(has(4, "norm_behind"));
  const ModelConfig unturned = class_config("olmo_hybrid", R"({"rope_parameters": null})");
  EXPECT_EQ(unturned.position, Position::None);
  EXPECT_EQ(model_config_from_json(to_json(unturned), "written"), unturned);
}

}  // namespace
}  // namespace sim
