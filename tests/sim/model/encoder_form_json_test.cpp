#include "sim/model/encoder_form_json.h"

#include <gmock/gmock.h>

#include <cmath>

#include "sim/units/json_reader.h"

namespace sim {
namespace {

using testing::HasSubstr;

ModelConfig read(const char* text) { return model_config_from_json(Json::parse(text), "config.json"); }

constexpr const char* kT5 = R"({"model_type": "t5", "num_layers": 3, "num_decoder_layers": 2, "d_model": 64, "num_heads": 4, "d_kv": 8,
  "d_ff": 96, "vocab_size": 100, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": false})";
constexpr const char* kBart =
    R"({"model_type": "bart", "encoder_layers": 1, "decoder_layers": 2, "d_model": 64, "encoder_attention_heads": 4,
  "decoder_attention_heads": 4, "encoder_ffn_dim": 128, "decoder_ffn_dim": 128, "vocab_size": 100, "max_position_embeddings": 64,
  "scale_embedding": true})";

TEST(EncoderFormJson, StacksOfT5) {
  const ModelConfig config = read(kT5);
  EXPECT_EQ(config.encoder->layers, 3);
  EXPECT_EQ(config.layers, 3 + 2 * 2);
  EXPECT_EQ(config.encoder->relative_buckets, 32);
  EXPECT_EQ(config.head_dim, 8);
  EXPECT_TRUE(config.gated_mlp);
  EXPECT_EQ(config.activation, Activation::GeluTanh);
  EXPECT_EQ(config.logit_factor, 1);  // T5 1.1 has a head of its own, and does not scale
}

TEST(EncoderFormJson, ATiedHeadIsScaled) {
  Json json = Json::parse(kT5);
  json["tie_word_embeddings"] = true;
  EXPECT_DOUBLE_EQ(model_config_from_json(json, "config.json").logit_factor, 1 / 8.0);
  json["scale_decoder_outputs"] = false;  // as Transformers 5 writes T5 1.1
  EXPECT_EQ(model_config_from_json(json, "config.json").logit_factor, 1);
}

TEST(EncoderFormJson, StacksOfBart) {
  const ModelConfig config = read(kBart);
  EXPECT_EQ(config.layers, 1 + 2 * 2);
  EXPECT_EQ(config.heads, 4);
  EXPECT_DOUBLE_EQ(config.embedding_factor, 8);
}

TEST(EncoderFormJson, WhatIsWrittenIsReadAgain) {
  for (const char* text : {kT5, kBart}) EXPECT_EQ(model_config_from_json(to_json(read(text)), "config.json"), read(text));
}

TEST(EncoderFormJson, StacksOfDifferentWidthAreRefused) {
  Json json = Json::parse(kBart);
  json["decoder_ffn_dim"] = 256;
  json["decoder_vocab_size"] = 50;
  try {
    model_config_from_json(json, "config.json");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("decoder_ffn_dim"));
    EXPECT_THAT(error.what(), HasSubstr("two token tables"));
  }
}

}  // namespace
}  // namespace sim
