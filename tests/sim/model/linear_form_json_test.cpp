#include "sim/model/linear_form_json.h"

#include <gmock/gmock.h>

#include "class_configs.h"
#include "sim/model/model_graph.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

Json linear_config_json(const std::string& name) { return load_json_file("profiles/models/" + name + ".json"); }
ModelConfig read_linear_config(const Json& json) { return model_config_from_json(json, "config.json"); }
std::string linear_fault(const Json& json) {
  try {
    read_linear_config(json);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(LinearFormJson, LayersAreCountedOrNamed) {
  Json json = linear_config_json("qwen3-next-80b-a3b");
  const ModelConfig counted = read_linear_config(json);
  EXPECT_EQ(std::ranges::count(counted.linear_layers, false), 12);
  EXPECT_FALSE(is_linear(counted, 3) || is_linear(counted, 47));
  EXPECT_TRUE(is_linear(counted, 0) && is_linear(counted, 4));
  json["layer_types"] = Json::array();
  for (int block = 0; block < 48; ++block) json["layer_types"].push_back(block == 0 ? "full_attention" : "linear_attention");
  EXPECT_EQ(std::ranges::count(read_linear_config(json).linear_layers, false), 1);
  json["layer_types"][1] = "sliding_attention";
  EXPECT_THAT(linear_fault(json), HasSubstr("layer_types"));
}

TEST(LinearFormJson, StateSpacesHaveNamesOfTheirOwn) {
  Json json = linear_config_json("bamba-9b");
  const ModelConfig config = read_linear_config(json);
  EXPECT_EQ(
      *config.linear,
      (LinearForm{
          .rule = LinearRule::StateSpace, .heads = 128, .groups = 1, .key = 128, .value = 64, .chunk = 256, .convolution_bias = true}));
  EXPECT_FALSE(is_linear(config, 9) || is_linear(config, 18) || is_linear(config, 27));
  json["mamba_d_head"] = "auto";
  EXPECT_EQ(read_linear_config(json), config);
  json["attn_layer_indices"] = {32};
  EXPECT_THAT(linear_fault(json), HasSubstr("names layer 32 of 32"));
}

TEST(LinearFormJson, SizesThatCannotBeAreNamed) {
  Json json = linear_config_json("qwen3-next-80b-a3b");
  json["linear_num_key_heads"] = 5;
  EXPECT_THAT(linear_fault(json), HasSubstr("groups of queries and keys (5) do not divide"));
  json["linear_num_key_heads"] = 16;
  json["linear_value_head_dim"] = 100000;
  json["linear_num_value_heads"] = 64000;
  EXPECT_THAT(linear_fault(json), HasSubstr("linear_num_value_heads"));
  json = linear_config_json("bamba-9b");
  json["num_experts"] = 8;
  EXPECT_THAT(linear_fault(json), HasSubstr("experts beside state spaces"));
}

TEST(LinearFormJson, APatternSaysWhatABlockIs) {
  Json json = linear_config_json("nemotron-3-nano-30b-a3b");
  const ModelConfig config = read_linear_config(json);
  EXPECT_EQ(config.layers, 52);
  EXPECT_EQ(std::ranges::count(config.halves, BlockHalf::FeedForward), 23);
  EXPECT_EQ(std::ranges::count(config.linear_layers, true), 23);
  EXPECT_TRUE(is_linear(config, 0) && has_experts(config, 1) && !is_linear(config, 5) && half_of(config, 5) == BlockHalf::Mixer);
  EXPECT_EQ(config.linear->value, 64) << "not what expand would make of it";
  Json words = json;
  words.erase("hybrid_override_pattern");
  words["layers_block_type"] = Json::array();
  for (const char letter : std::string("MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME"))
    words["layers_block_type"].push_back(letter == 'M' ? "mamba" : letter == 'E' ? "moe" : "attention");
  EXPECT_EQ(read_linear_config(words), config);
  json["hybrid_override_pattern"] = "M-X";
  EXPECT_THAT(linear_fault(json), HasSubstr("neither M, *, - nor E"));
  json["hybrid_override_pattern"] = "M-E";
  EXPECT_TRUE(has_experts(read_linear_config(json), 2) && !has_experts(read_linear_config(json), 1));
  json.erase("n_routed_experts");
  EXPECT_THAT(linear_fault(json), HasSubstr("n_routed_experts"));
}

TEST(LinearFormJson, KimiNamesItsLayersFromOne) {
  Json json = linear_config_json("kimi-linear-48b-a3b");
  const ModelConfig config = read_linear_config(json);
  EXPECT_EQ(std::ranges::count(config.linear_layers, true), 20);
  EXPECT_TRUE(!is_linear(config, 3) && !is_linear(config, 26) && is_linear(config, 0));
  EXPECT_EQ(config.linear->narrow(), 128);
  EXPECT_EQ(config.experts->topk, 8);
  EXPECT_EQ(config.experts->shared_ffn, 1024);
  json["linear_attn_config"]["full_attn_layers"] = {4, 8};
  EXPECT_THAT(linear_fault(json), HasSubstr("names 22 of 27 layers"));
  json["linear_attn_config"]["full_attn_layers"] = {28};
  EXPECT_THAT(linear_fault(json), HasSubstr("names layer 28 of 27"));
}

TEST(LinearFormJson, WhatIsWrittenReadsBack) {
  for (const char* name : {"qwen3-next-80b-a3b", "bamba-9b", "nemotron-h-8b", "nemotron-3-nano-30b-a3b", "mamba2-2.7b",
                           "granite-4.0-h-small", "qwen3.5-27b", "qwen3.5-397b-a17b", "kimi-linear-48b-a3b"}) {
    const ModelConfig config = read_linear_config(linear_config_json(name));
    EXPECT_EQ(read_linear_config(to_json(config)), config) << name;
  }
}

std::string fault_of_class(const std::string& family, const std::string& changes) {
  try {
    class_config(family, changes);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(LinearFormJson, ChannelsFollowTheWidthOfTheStream) {
  const ModelConfig mamba = class_config("mamba", R"({"time_step_rank": "auto", "hidden_size": 1000, "expand": 3})");
  EXPECT_EQ(mamba.linear->heads, 3000);
  EXPECT_EQ(mamba.linear->step_rank, 63) << "a sixteenth, rounded up";
  EXPECT_EQ(class_config("mamba", R"({"time_step_rank": 7})").linear->step_rank, 7);
  EXPECT_EQ(class_config("falcon_h1", R"({"mamba_d_ssm": null, "mamba_d_head": "auto", "mamba_n_heads": 64})").linear->value, 128);
  EXPECT_THAT(fault_of_class("falcon_h1", R"({"mamba_d_ssm": 3000})"), HasSubstr("mamba_d_ssm"));
}

TEST(LinearFormJson, AttentionAtOnePlaceOfAPeriod) {
  const ModelConfig jamba = class_config("jamba", R"({"num_hidden_layers": 16, "attn_layer_period": 5, "attn_layer_offset": 2})");
  for (std::int64_t block = 0; block < 16; ++block) EXPECT_EQ(is_linear(jamba, block), block % 5 != 2) << block;
  EXPECT_TRUE(has_experts(jamba, 1) && !has_experts(jamba, 2));
  EXPECT_EQ(read_linear_config(to_json(jamba)), jamba);
  EXPECT_THAT(fault_of_class("jamba", R"({"attn_layer_offset": 8})"), HasSubstr("of a period of 8"));
  EXPECT_THAT(fault_of_class("jamba", R"({"expert_layer_offset": 0})"), HasSubstr("expert_layer_offset"));
  EXPECT_FALSE(class_config("jamba", R"({"num_experts": 1})").experts);
}

TEST(LinearFormJson, BlocksConvolveWhereTheyDoNotAttend) {
  const ModelConfig named = class_config("lfm2");
  EXPECT_THAT(named.linear_layers, ::testing::ElementsAre(true, true, false, true, true, false, true, true));
  EXPECT_EQ(class_config("lfm2", R"({"layer_types": null})"), named);
  EXPECT_THAT(fault_of_class("lfm2", R"({"layer_types": null, "full_attn_idxs": [8]})"), HasSubstr("names layer 8 of 8"));
  EXPECT_EQ(named.ffn, 8192) << "two thirds of 12288";
  EXPECT_EQ(class_config("lfm2", R"({"block_ff_dim": 6912, "block_ffn_dim_multiplier": 1.01})").ffn, 4864);
  EXPECT_EQ(class_config("lfm2", R"({"block_auto_adjust_ff_dim": false})").ffn, 12288);
  EXPECT_TRUE(named.linear->biases && named.linear->convolution_bias);
}

}  // namespace
}  // namespace sim
