#include "sim/model/family_json.h"

#include <gmock/gmock.h>

#include "sim/units/json_reader.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

std::string refusal_of(Json json) {
  try {
    model_config_from_json(json, "config.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

Json published_json(const std::string& name) { return load_json_file("profiles/models/" + name + ".json"); }

TEST(FamilyJson, AMissingSizeIsToldUnderTheFamilysName) {
  Json json = published_json("opt-1.3b");
  json.erase("ffn_dim");
  EXPECT_THAT(refusal_of(json), HasSubstr("/ffn_dim: is missing"));
}

TEST(FamilyJson, SwitchesThatChangeTheNetworkAreRefused) {
  Json json = published_json("bloom-7b1");
  json["apply_residual_connection_post_layernorm"] = true;
  EXPECT_THAT(refusal_of(json), HasSubstr("a residual behind the norm is not supported"));
  json = published_json("bert-base-uncased");
  json["is_decoder"] = true;
  EXPECT_THAT(refusal_of(json), HasSubstr("/is_decoder"));
}

TEST(FamilyJson, OneKeySwitchesAllBiases) {
  Json json = published_json("starcoder2-7b");
  json["use_bias"] = false;
  const ModelConfig config = model_config_from_json(json, "config.json");
  EXPECT_FALSE(config.attention_bias || config.projection_bias || config.mlp_bias);
}

TEST(FamilyJson, WhatIsUsualIsNotWritten) {
  EXPECT_FALSE(to_json(model_config_from_json(published_json("llama-3.1-8b"), "")).contains("partial_rotary_factor"));
  EXPECT_EQ(to_json(model_config_from_json(published_json("qwen3-8b"), ""))["head_dim"], 128);
}

}  // namespace
}  // namespace sim
