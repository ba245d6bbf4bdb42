#include "sim/model/expert_form_json.h"

#include <gmock/gmock.h>

#include "class_configs.h"
#include "sim/model/model_graph.h"
#include "sim/units/input_error.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

// Hugging Face: mistralai/Mixtral-8x7B-v0.1, Qwen/Qwen1.5-MoE-A2.7B, as far as shapes go.
Json mixtral() {
  return {{"model_type", "mixtral"},  {"num_hidden_layers", 32},    {"hidden_size", 4096}, {"num_attention_heads", 32},
          {"num_key_value_heads", 8}, {"intermediate_size", 14336}, {"vocab_size", 32000}, {"max_position_embeddings", 32768},
          {"num_local_experts", 8},   {"num_experts_per_tok", 2}};
}
Json qwen_moe() {
  return {{"model_type", "qwen2_moe"}, {"num_hidden_layers", 24},         {"hidden_size", 2048},
          {"num_attention_heads", 16}, {"num_key_value_heads", 16},       {"intermediate_size", 5632},
          {"vocab_size", 151936},      {"max_position_embeddings", 8192}, {"num_experts", 60},
          {"num_experts_per_tok", 4},  {"moe_intermediate_size", 1408},   {"shared_expert_intermediate_size", 5632}};
}

// deepseek-ai/DeepSeek-V3 without its stretched positions.
Json deepseek() {
  return {{"model_type", "deepseek_v3"}, {"num_hidden_layers", 61},    {"hidden_size", 7168},           {"num_attention_heads", 128},
          {"num_key_value_heads", 128},  {"intermediate_size", 18432}, {"vocab_size", 129280},          {"max_position_embeddings", 4096},
          {"n_routed_experts", 256},     {"num_experts_per_tok", 8},   {"moe_intermediate_size", 2048}, {"n_shared_experts", 1},
          {"first_k_dense_replace", 3},  {"q_lora_rank", 1536},        {"kv_lora_rank", 512},           {"qk_nope_head_dim", 128},
          {"qk_rope_head_dim", 64},      {"v_head_dim", 128}};
}

TEST(ExpertForm, FamiliesNameTheSameNumbersDifferently) {
  const ModelConfig eight = model_config_from_json(mixtral(), "config.json"), sixty = model_config_from_json(qwen_moe(), "config.json");
  EXPECT_EQ(*eight.experts, (ExpertForm{.experts = 8, .topk = 2, .expert_ffn = 14336, .renormalised = true}));
  EXPECT_EQ(*sixty.experts, (ExpertForm{.experts = 60, .topk = 4, .expert_ffn = 1408, .shared_ffn = 5632, .shared_gate = true}));
}

// Where the file is silent, the family's own class speaks; the auxiliary loss counts where router logits are put out.
TEST(ExpertForm, FamiliesWeighExpertsDifferently) {
  const ExpertForm v3 = *model_config_from_json(deepseek(), "config.json").experts;
  EXPECT_EQ(v3.score, RouterScore::Sigmoid);
  EXPECT_TRUE(v3.renormalised);
  EXPECT_EQ(v3.scaling, 2.5);
  Json json = qwen_moe();
  json["norm_topk_prob"] = true;
  json["router_aux_loss_coef"] = 0.02;
  EXPECT_TRUE(model_config_from_json(json, "config.json").experts->renormalised);
  EXPECT_EQ(model_config_from_json(json, "config.json").experts->balance_loss, 0);
  json["output_router_logits"] = true;
  EXPECT_EQ(model_config_from_json(json, "config.json").experts->balance_loss, 0.02);
}

TEST(ExpertForm, OneExpertIsADenseModel) {
  Json json = mixtral();
  json["num_local_experts"] = 1;
  EXPECT_FALSE(model_config_from_json(json, "config.json").experts);
}

TEST(ExpertForm, ComesBackFromAPlanFile) {
  for (const Json& json : {mixtral(), qwen_moe(), deepseek()}) {
    ModelConfig config = model_config_from_json(json, "config.json");
    config.experts->first_dense_layers = 3;
    config.experts->forced_balance = true;
    config.experts->dispatch = ExpertDispatch::Drop;
    EXPECT_EQ(model_config_from_json(to_json(config), "plan.json"), config);
  }
}

// Transformers reads nothing of a name that is another family's.
TEST(ExpertForm, IsWrittenAsItsClassReadsIt) {
  const Json laguna = to_json(class_config("laguna", R"({"moe_routed_scaling_factor": 1.5, "num_hidden_layers": 3,
      "layer_types": ["full_attention", "sliding_attention", "sliding_attention"], "num_attention_heads_per_layer": [48, 64, 64],
      "mlp_layer_types": ["dense", "sparse", "dense"]})"));
  EXPECT_EQ(laguna["moe_routed_scaling_factor"], 1.5);
  EXPECT_EQ(laguna["mlp_layer_types"], Json({"dense", "sparse", "dense"}));
  const Json afmoe = to_json(class_config("afmoe", R"({"route_scale": 1.5})"));
  EXPECT_EQ(afmoe["route_scale"], 1.5);
  EXPECT_TRUE(afmoe.contains("num_dense_layers") && afmoe.contains("num_shared_experts"));
}

TEST(ExpertForm, WrongNumbersAreNamed) {
  Json json = mixtral();
  json["num_experts_per_tok"] = 9;
  try {
    model_config_from_json(json, "config.json");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("num_experts_per_tok"));
  }
}

// As their cards say: 46.7, 14.3 and 671 billion parameters.
TEST(ExpertForm, ParametersAreThoseOfThePublishedModels) {
  EXPECT_NEAR(static_cast<double>(num_parameters(make_model_graph(model_config_from_json(mixtral(), ""), {1}))), 46.7e9, 0.05e9);
  EXPECT_NEAR(static_cast<double>(num_parameters(make_model_graph(model_config_from_json(qwen_moe(), ""), {1}))), 14.3e9, 0.05e9);
  EXPECT_NEAR(static_cast<double>(num_parameters(make_model_graph(model_config_from_json(deepseek(), ""), {1}))), 671e9, 0.5e9);
}

// Queries by way of 1,536 numbers; keys and values of 128 heads, 192 and 128 wide, by way of 512.
TEST(ExpertForm, LatentAttentionIsAsWideAsItsHeads) {
  const ModelConfig config = model_config_from_json(deepseek(), "");
  const AttentionWidths widths = attention_widths(config);
  EXPECT_EQ(widths.query, 128 * 192);
  EXPECT_EQ(widths.joint(), 128 * (2 * 192 + 128));
  EXPECT_EQ(widths.output, 128 * 128);
  EXPECT_EQ(config.head_dim, (192 + 128) / 2);
}

// A token meets two of eight experts: 12.9 billion parameters, of which the embedding multiplies nothing.
TEST(ExpertForm, FlopsAreOfTheExpertsThatATokenMeets) {
  const ModelGraph model = make_model_graph(model_config_from_json(mixtral(), ""), {1});
  const double flops = model_flops(model, {1, 1}).value() - 12.0 * 32 * 4096;
  EXPECT_NEAR(flops / 6, 12.88e9 - 32000.0 * 4096, 0.02e9);
}

TEST(ExpertForm, TheFirstLayersMayBeDense) {
  Json json = qwen_moe();
  json["first_k_dense_replace"] = 2;
  const ModelGraph model = make_model_graph(model_config_from_json(json, ""), {1});
  EXPECT_EQ(model.kind(LayerIndex(2)), model.kind(LayerIndex(1)));
  EXPECT_NE(model.kind(LayerIndex(3)), model.kind(LayerIndex(2)));
  EXPECT_EQ(model.firsts[model.kind(LayerIndex(4)).position()], LayerIndex(3));
  EXPECT_EQ(model.layer(LayerIndex(2)).segments.back().name, Operation::Mlp);
  EXPECT_EQ(model.layer(LayerIndex(3)).segments.back().name, Operation::Experts);
}

// As Hunyuan-A13B's file has them. Lists of each layer are read where all say the same, and were passed by where they do not.
TEST(ExpertForm, FalseIsNoNumberAndListsOfOneNumberAreOne) {
  Json json = mixtral();
  const ModelConfig plain = model_config_from_json(json, "");
  json["routed_scaling_factor"] = json["n_group"] = json["topk_group"] = false;
  json["num_experts_per_tok"] = Json::array({2, 2});
  EXPECT_EQ(model_config_from_json(json, ""), plain);
  json["num_experts_per_tok"] = Json::array({2, 1});
  EXPECT_THAT([&] { model_config_from_json(json, ""); }, testing::ThrowsMessage<InputError>(HasSubstr("layers whose experts differ")));
  json["num_experts_per_tok"] = "2";
  EXPECT_THROW(model_config_from_json(json, ""), InputError);
}

}  // namespace
}  // namespace sim
