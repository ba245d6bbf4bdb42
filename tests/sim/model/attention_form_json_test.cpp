#include "sim/model/attention_form_json.h"

#include <gmock/gmock.h>

#include "sim/model/model_graph.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Json dense_deepseek() {
  return {{"model_type", "deepseek_v3"}, {"num_hidden_layers", 3}, {"hidden_size", 64}, {"num_attention_heads", 4},
          {"intermediate_size", 96},     {"vocab_size", 50},       {"q_lora_rank", 24}, {"kv_lora_rank", 16},
          {"qk_nope_head_dim", 16},      {"qk_rope_head_dim", 8},  {"v_head_dim", 12}};
}

std::string refusal(const Json& json) {
  try {
    model_config_from_json(json, "config.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(AttentionFormJson, EveryKeyIsRead) {
  const AttentionForm form = model_config_from_json(dense_deepseek(), "config.json").attention;
  EXPECT_EQ(form, (AttentionForm{.kind = AttentionKind::Latent, .q_lora = 24, .kv_lora = 16, .qk_nope = 16, .qk_rope = 8, .v_dim = 12}));
}

TEST(AttentionFormJson, QueriesMayBeProjectedDirectly) {
  Json json = dense_deepseek();
  json["q_lora_rank"] = nullptr;
  const ModelConfig config = model_config_from_json(json, "config.json");
  EXPECT_EQ(config.attention.q_lora, 0);
  EXPECT_TRUE(to_json(config)["q_lora_rank"].is_null()) << "a projection to no numbers in Transformers";
  EXPECT_EQ(make_model_graph(config, {1}).layers[1].parameters[1].name, "layers.0.attention.q.weight");
}

TEST(AttentionFormJson, ADenseNetworkComesBackAsOne) {
  const ModelConfig config = model_config_from_json(dense_deepseek(), "config.json");
  const Json written = to_json(config);
  EXPECT_EQ(written["first_k_dense_replace"], 3) << "else Transformers makes experts";
  EXPECT_EQ(written["head_dim"], 8) << "what Transformers turns";
  EXPECT_EQ(model_config_from_json(written, "plan.json"), config);
  Json with_experts = dense_deepseek();
  with_experts["n_routed_experts"] = 8;
  with_experts["first_k_dense_replace"] = 3;
  EXPECT_FALSE(model_config_from_json(with_experts, "config.json").experts) << "no layer has them";
}

TEST(AttentionFormJson, AnIndexerIsReadAndWritten) {
  Json json = dense_deepseek();
  json.update({{"index_n_heads", 2}, {"index_head_dim", 16}, {"index_topk", 4}});
  const ModelConfig config = model_config_from_json(json, "config.json");
  EXPECT_EQ(config.attention.indexer, (Indexer{.heads = 2, .width = 16, .topk = 4}));
  EXPECT_EQ(model_config_from_json(to_json(config), "plan.json"), config);
  EXPECT_FALSE(to_json(model_config_from_json(dense_deepseek(), "config.json")).contains("index_topk"));
  json["indexer_types"] = {"full", "full"};
  EXPECT_EQ(model_config_from_json(json, "config.json"), config);
  json["indexer_types"] = {"full", "shared"};
  EXPECT_THAT(refusal(json), HasSubstr("indexers that several layers share"));
  json.erase("indexer_types");
  json["q_lora_rank"] = nullptr;
  json.erase("index_n_heads");
  EXPECT_THAT(refusal(json), AllOf(HasSubstr("index_n_heads: is missing"), HasSubstr("the indexer reads those narrow queries")));
}

TEST(AttentionFormJson, WhatIsMissingOrOtherIsNamed) {
  Json json = dense_deepseek();
  json.erase("kv_lora_rank");
  json["v_head_dim"] = 0;
  json["rope_interleave"] = false;
  json["attention_bias"] = true;
  EXPECT_THAT(refusal(json), AllOf(HasSubstr("kv_lora_rank: is missing"), HasSubstr("v_head_dim"), HasSubstr("rope_interleave"),
                                   HasSubstr("attention_bias")));
  json = dense_deepseek();
  json["qk_rope_head_dim"] = 7;
  EXPECT_THAT(refusal(json), HasSubstr("qk_rope_head_dim: is 7: rotary positions turn pairs"));
}

}  // namespace
}  // namespace sim
