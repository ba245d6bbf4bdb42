#include <gmock/gmock.h>

#include <filesystem>

#include "sim/model/config_notes.h"
#include "sim/model/model_config.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kNoted = "profiles/models/";
Json noted_json(const std::string& name) { return load_json_file(kNoted + name + ".json"); }
Json of_class(const std::string& family) { return load_json_file("tests/sim/model/families.json")[family]["config"]; }
auto told_at(const std::string& where, const std::string& words) {
  return AllOf(Field(&Violation::where, where), Field(&Violation::problem, HasSubstr(words)));
}

TEST(ConfigNotes, WhatNobodyReadsIsToldTheUnknownFirst) {
  Json json = noted_json("llama-3.1-8b");
  EXPECT_THAT(config_notes_of(json), IsEmpty());
  json["residual_multiplier"] = 0.22;
  json["hyper_blocks"] = 3;
  json["logits_scaling"] = 1.0;
  json["architectures"] = {"LlamaForCausalLM"};
  json["unheard_of"] = nullptr;
  EXPECT_THAT(config_notes_of(json),
              ElementsAre(told_at("hyper_blocks", "is 3, which nobody here knows"),
                          told_at("residual_multiplier", "is 0.22, which is not taken: the scale of what blocks add")));
}

TEST(ConfigNotes, LayersThatPredictFurtherTokensAreNotFree) {
  EXPECT_THAT(config_notes(kNoted + "deepseek-v3.json"),
              ::testing::Contains(told_at("num_nextn_predict_layers", "unless it says mtp_layers")));
  EXPECT_THAT(config_notes(kNoted + "deepseek-v3.json", /*mtp_layers=*/1),
              ::testing::Not(::testing::Contains(told_at("num_nextn_predict_layers", ""))))
      << "a plan that has them";
}

TEST(ConfigNotes, ANameSaidTwiceIsToldWhereTheTwoDiffer) {
  Json json = noted_json("gpt2");
  json["num_hidden_layers"] = json["n_layer"];
  EXPECT_THAT(config_notes_of(json), IsEmpty());
  json["num_hidden_layers"] = 99;
  EXPECT_THAT(config_notes_of(json), ElementsAre(told_at("num_hidden_layers", "is 99")));
}

TEST(ConfigNotes, KeysOfPositionsAreReadToo) {
  Json json = noted_json("llama-3.1-8b");
  json["rope_scaling"]["swing"] = 2;
  EXPECT_THAT(config_notes_of(json), ElementsAre(told_at("rope_scaling/swing", "is 2")));
}

// Words that a class of Transformers reads are refused where they change the network, and so are others of ours that it would not be trained with.
TEST(ConfigNotes, KeysThatTheClassReadsAreRefused) {
  Json olmoe = noted_json("olmoe-1b-7b"), bert = noted_json("bert-base-uncased");
  olmoe["clip_qkv"] = 8;
  bert["position_embedding_type"] = "relative_key";
  EXPECT_THROW(model_config_from_json(olmoe, ""), InputError);
  EXPECT_THROW(model_config_from_json(bert, ""), InputError);
}

TEST(ConfigNotes, TheFactorOfScoresIsRead) {
  Json grok = noted_json("grok-1");
  grok["attn_output_multiplier"] = 0.08838834764831845;  // one over the root of 128: as everywhere
  EXPECT_EQ(model_config_from_json(grok, "").score_scale, 0);
  grok["attn_output_multiplier"] = 0.5;
  const ModelConfig other = model_config_from_json(grok, "");
  EXPECT_EQ(other.score_scale, 4);
  EXPECT_EQ(model_config_from_json(to_json(other), ""), other);
}

TEST(ConfigNotes, PublishedFilesSayLittle) {
  for (const auto& file : std::filesystem::directory_iterator(kNoted)) {
    if (file.path().stem() == "parameters") continue;
    for (const Violation& one : config_notes(file.path()))
      EXPECT_THAT(one.where, ::testing::AnyOf("num_nextn_predict_layers", "mtp_num_hidden_layers", "quantization_config", "aux_loss_alpha",
                                              "text_config", "residual_in_fp32"))
          << file.path() << located(one);
  }
}

// Keys of MiniMax-M2, Apertus, ERNIE 4.5 and Hunyuan-A13B as published say what their rows have; another value is told or refused.
TEST(ConfigNotes, WhatTheRowHasAnywayIsNotTold) {
  Json m2 = of_class("minimax_m2"), hunyuan = of_class("hunyuan_v1_moe"), apertus = of_class("apertus");
  m2.update({{"use_qk_norm", true}, {"attn_type_list", Json::array({1, 1, 1})}, {"use_mtp", true}, {"num_mtp_modules", 0}});
  hunyuan.update({{"use_cla", false}, {"cla_share_factor", 2}, {"group_limited_greedy", false}, {"use_mixed_mlp_moe", true}});
  apertus.update({{"qk_norm", true}, {"post_norm", false}});
  for (const Json* plain : {&m2, &hunyuan, &apertus}) EXPECT_TRUE(config_notes_of(*plain).empty()) << plain->dump();
  m2.update({{"use_qk_norm", false}, {"attn_type_list", Json::array({1, 0, 1})}, {"num_mtp_modules", 3}});
  EXPECT_EQ(config_notes_of(m2).size(), 3u);
  hunyuan["use_cla"] = true;
  EXPECT_EQ(config_notes_of(hunyuan).size(), 2u);
  apertus["qk_norm"] = false;
  EXPECT_THROW(model_config_from_json(apertus, ""), InputError);
}

TEST(ConfigNotes, WhatStandsBesideTextIsNotCounted) {
  const std::vector<Violation> notes = config_notes("profiles/models/llama-4-scout-17b-16e.json");
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].where, "text_config");
  EXPECT_TRUE(config_notes("profiles/models/nemotron-h-8b.json").empty());
}

}  // namespace
}  // namespace sim
