#include <gmock/gmock.h>

#include "configs.h"
#include "sim/model/config_notes.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

ModelConfig read(const std::string& text) { return model_config_from_json(parse_json(text, "config.json"), "config.json"); }

std::string told(const std::string& text) {
  try {
    read(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

const std::string kGpt2 = R"("model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12, "n_positions": 1024, "vocab_size": 50257)";
const std::string kLlama = R"("model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
                             "intermediate_size": 11008, "vocab_size": 32000)";

TEST(ModelConfigJson, Gpt2Defaults) {
  const ModelConfig config = read("{" + kGpt2 + R"(, "n_inner": null, "unknown_key": [1]})");
  EXPECT_EQ(config.ffn, 3072);
  EXPECT_EQ(config.kv_heads, 12);
  EXPECT_EQ(config.head_dim, 64);
  EXPECT_EQ(config.activation, Activation::GeluTanh);
  EXPECT_EQ(config.norm, Norm::LayerNorm);
  EXPECT_EQ(config.position, Position::Learned);
  EXPECT_TRUE(config.tied_embeddings);
  EXPECT_TRUE(config.attention_bias && config.projection_bias && config.mlp_bias);
  EXPECT_FALSE(config.gated_mlp);
  EXPECT_EQ(config.embedding_dropout, 0.1);
  EXPECT_EQ(config.norm_epsilon, 1e-5);
  EXPECT_EQ(config.initializer_range, 0.02);
}

TEST(ModelConfigJson, Gpt2AnswersToTheUsualNames) {
  EXPECT_EQ(read(R"({"model_type": "gpt2", "num_hidden_layers": 12, "hidden_size": 768, "num_attention_heads": 12,
                     "max_position_embeddings": 1024, "vocab_size": 50257})"),
            read("{" + kGpt2 + "}"));
}

TEST(ModelConfigJson, LlamaDefaults) {
  const ModelConfig config = read("{" + kLlama + "}");
  EXPECT_EQ(config.kv_heads, 32);
  EXPECT_EQ(config.head_dim, 128);
  EXPECT_EQ(config.max_positions, 2048);
  EXPECT_EQ(config.norm_epsilon, 1e-6);
  EXPECT_EQ(config.rope_theta, 10000.0);
  EXPECT_EQ(config.activation, Activation::Silu);
  EXPECT_TRUE(config.gated_mlp);
  EXPECT_FALSE(config.tied_embeddings || config.attention_bias || config.projection_bias || config.mlp_bias);
  EXPECT_EQ(config.residual_dropout, 0.0);
}

TEST(ModelConfigJson, LlamaBiasesAndRotaryBase) {
  const ModelConfig config = read("{" + kLlama + R"(, "attention_bias": true, "mlp_bias": true, "tie_word_embeddings": true,
                                  "rope_parameters": {"rope_type": "default", "rope_theta": 500000.0}})");
  EXPECT_TRUE(config.attention_bias && config.projection_bias && config.mlp_bias && config.tied_embeddings);
  EXPECT_EQ(config.rope_theta, 500000.0);
}

TEST(ModelConfigJson, MistralAndQwen2ReduceToTheSameFields) {
  const auto as = [](const std::string& type, const std::string& more) {
    std::string text = "{" + kLlama + more + "}";
    return text.replace(text.find("llama"), 5, type);
  };
  EXPECT_FALSE(read(as("mistral", R"(, "sliding_window": null, "attention_bias": true)")).attention_bias);
  const ModelConfig qwen = read(as("qwen2", R"(, "use_sliding_window": false, "sliding_window": 16)"));
  EXPECT_TRUE(qwen.attention_bias);
  EXPECT_FALSE(qwen.projection_bias);
  EXPECT_EQ(read(as("mistral", R"(, "sliding_window": 1024)")).window, 1024);
}

TEST(ModelConfigJson, RefusesOtherMathematicsInsteadOfIgnoringIt) {
  EXPECT_THAT(told("{" + kLlama + R"(, "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}})"),
              HasSubstr("/rope_scaling/type: is \"mrope\""));
  EXPECT_THAT(told("{" + kLlama + R"(, "partial_rotary_factor": 1.5})"), HasSubstr("/partial_rotary_factor"));
  EXPECT_THAT(told("{" + kGpt2 + R"(, "scale_attn_weights": false, "add_cross_attention": true})"),
              AllOf(HasSubstr("unscaled attention"), HasSubstr("cross-attention")));
}

TEST(ModelConfigJson, AnUnknownTypeIsToldWithItsNeighbour) {
  EXPECT_THAT(told(R"({"model_type": "mamba22"})"),
              AllOf(HasSubstr("/model_type: is \"mamba22\", which is none of the"), HasSubstr("did you mean mamba2?")));
  EXPECT_THAT(told(R"({"model_type": "rwkv", "layers": "x"})"), HasSubstr("give the config.json of a network of the same form"));
  EXPECT_THAT(told("{}"), HasSubstr("/model_type: is missing"));
  EXPECT_THAT(told("[]"), HasSubstr("expected an object"));
}

TEST(ModelConfigJson, TellsEveryViolationAtOnceAndNoConsequence) {
  EXPECT_EQ(
      told(R"({"model_type": "llama", "num_hidden_layers": -1, "hidden_size": 1e30, "num_attention_heads": 32, "num_key_value_heads": 5,
                     "vocab_size": "many", "hidden_act": "tanh", "rms_norm_eps": 0, "head_dim": 7})"),
      "config.json: /num_hidden_layers: is -1, expected a whole number from 1 to 1,000,000,000; correct it\n"
      "config.json: /hidden_size: is 1e+30, expected a whole number from 1 to 1,000,000,000; correct it\n"
      "config.json: /intermediate_size: is missing; add it\n"
      "config.json: /vocab_size: is \"many\", expected a whole number from 1 to 1,000,000,000; correct it\n"
      "config.json: /hidden_act: is \"tanh\", accepted: gelu_new, gelu_pytorch_tanh, gelu_fast, gelu, silu, swish, relu, relu2, xielu; "
      "choose one "
      "of "
      "them\n"
      "config.json: /rms_norm_eps: is 0, expected a number from 1e-30 up; correct it\n"
      "config.json: /num_key_value_heads: is 5, which does not divide num_attention_heads 32; choose a divisor\n"
      "config.json: /head_dim: is 7: rotary positions turn pairs, so it must be even; choose an even size");
  EXPECT_THAT(told(R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_positions": 0, "vocab_size": 50257})"),
              AllOf(HasSubstr("/n_layer: is missing"), HasSubstr("/n_positions: is 0"), Not(HasSubstr("n_embd"))));
}

TEST(ModelConfigJson, ReadsBackWhatItWrites) {
  for (const ModelConfig& config : {small_gpt2(), small_llama(), read("{" + kGpt2 + R"(, "activation_function": "relu", "n_inner": 100})")})
    EXPECT_EQ(model_config_from_json(to_json(config), "again"), config);
  ModelConfig qwen = small_llama();
  qwen.model_type = "qwen2";
  qwen.attention_bias = true;
  EXPECT_EQ(model_config_from_json(to_json(qwen), "again"), qwen);
}

// Python writes them into files that are called JSON: the limits of Mamba's steps.
TEST(ModelConfigJson, NumbersOfPythonAreAsGoodAsMissing) {
  const std::string path = testing::TempDir() + "/infinite.json";
  save_text_file(
      R"({"model_type": "llama", "note": "a NaN \"Infinity\" in words", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
                     "intermediate_size": 128, "vocab_size": 100, "rms_norm_eps": NaN, "limits": [0.0, Infinity, -Infinity]})",
      path);
  EXPECT_EQ(load_model_config(path).norm_epsilon, 1e-6);
  EXPECT_EQ(load_config_json(path)["note"], "a NaN \"Infinity\" in words");
  EXPECT_EQ(load_config_json(path)["limits"], Json::parse("[0.0, null, null]"));
}

TEST(ModelConfigJson, ABrokenFileIsAnInputErrorAndNothingElse) {
  const std::string text = load_text_file("profiles/models/llama-3-8b.json");
  for (std::size_t length = 0; length <= text.rfind('}'); ++length) EXPECT_THROW(read(text.substr(0, length)), InputError) << length;
  std::uint32_t state = 1;  // the same damage on every run
  const auto next = [&] { return (state = state * 1664525u + 1013904223u) >> 8; };
  for (int round = 0; round < 5000; ++round) {
    std::string broken = text;
    for (int damage = 0; damage < 3; ++damage) broken[next() % broken.size()] = static_cast<char>(next());
    try {
      const ModelConfig config = read(broken);
      EXPECT_THAT(violations(config), testing::IsEmpty());
    } catch (const InputError& error) {
      EXPECT_FALSE(error.violations().empty());
    }
  }
}

TEST(ModelConfigJson, AllProfilesLoad) {
  for (const char* name :
       {"gpt2", "gpt2-medium", "gpt2-xl", "gpt3-175b", "llama-2-7b", "llama-3-8b", "llama-3-70b", "tiny-gpt2", "tiny-llama"})
    EXPECT_NO_THROW(load_model_config(std::string("profiles/models/") + name + ".json")) << name;
  EXPECT_THROW(load_model_config("profiles/models"), InputError);
}

TEST(ModelConfigJson, ANameAndAFolderAreEnough) {
  EXPECT_EQ(load_model_config("qwen3-30b-a3b"), load_model_config("profiles/models/qwen3-30b-a3b.json"));
  EXPECT_THAT([] { load_model_config("qwen3-30b"); },
              testing::ThrowsMessage<InputError>(testing::HasSubstr("did you mean qwen3-30b-a3b?")));
  const std::string folder = testing::TempDir() + "model_of_a_hub";
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file("profiles/models/gpt2.json", folder + "/config.json", std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(load_model_config(folder), load_model_config("gpt2"));
}

// Beside what sees images it has other names elsewhere; beside what hears and speaks it is one deeper.
TEST(ModelConfigJson, TextUnderOtherNamesIsTheNetwork) {
  const Json text = load_json_file("profiles/models/qwen2.5-7b.json");
  const ModelConfig plain = model_config_from_json(text, "plain");
  for (const char* key : {"text_config", "llm_config", "language_config"})
    EXPECT_EQ(model_config_from_json({{"model_type", "internvl_chat"}, {key, text}}, key), plain) << key;
  EXPECT_EQ(model_config_from_json({{"model_type", "qwen3_omni_moe"}, {"thinker_config", {{"text_config", text}}}}, "deeper"), plain);
  EXPECT_THROW(model_config_from_json({{"model_type", "unheard"}, {"llm_config", 3}}, "none"), InputError);
}

// Where the text does not say whether embedding and head are one, what is around it may.
TEST(ModelConfigJson, WhatIsAroundTheTextMayTieItsHead) {
  Json text = load_json_file("profiles/models/qwen2.5-7b.json");
  text.erase("tie_word_embeddings");
  const auto is_tied = [&](const Json& whole) { return model_config_from_json(whole, "file").tied_embeddings; };
  EXPECT_FALSE(is_tied({{"model_type", "a"}, {"text_config", text}}));
  EXPECT_TRUE(is_tied({{"model_type", "a"}, {"text_config", text}, {"tie_word_embeddings", true}}));
  EXPECT_TRUE(is_tied({{"model_type", "a"}, {"thinker_config", {{"tie_word_embeddings", true}, {"text_config", text}}}}));
  text["tie_word_embeddings"] = false;
  const Json contradicted = {{"model_type", "a"}, {"text_config", text}, {"tie_word_embeddings", true}};
  EXPECT_FALSE(is_tied(contradicted));
  const auto tells = [](const Json& whole) {
    const std::vector<Violation> notes = config_notes_of(whole);
    return std::ranges::find(notes, "tie_word_embeddings", &Violation::where) != notes.end();
  };
  EXPECT_TRUE(tells(contradicted));
  EXPECT_FALSE(tells({{"model_type", "a"}, {"text_config", text}, {"tie_word_embeddings", false}}));
  EXPECT_FALSE(tells({{"model_type", "a"}, {"text_config", text}}));
}

// Qwen2-VL and Qwen2.5-VL as published: one object holds the text and, beside it, what sees.
TEST(ModelConfigJson, TextAndSightInOneObjectAreReadAsTheText) {
  Json whole = load_json_file("profiles/models/qwen2.5-7b.json");
  whole["model_type"] = "qwen2_5_vl_text";
  const ModelConfig plain = model_config_from_json(whole, "plain");
  whole["model_type"] = "qwen2_5_vl";
  whole["vision_config"] = {{"depth", 32}};
  whole["rope_scaling"] = {{"type", "mrope"}, {"mrope_section", Json::array({16, 24, 24})}};
  EXPECT_EQ(model_config_from_json(whole, "whole"), plain);
  const std::vector<Violation> notes = config_notes_of(whole);
  const auto told = std::ranges::find(notes, "model_type", &Violation::where);
  ASSERT_NE(told, notes.end());
  EXPECT_THAT(told->problem, HasSubstr("is not counted"));
  EXPECT_EQ(std::ranges::find(notes, "vision_config", &Violation::where), notes.end()) << "told once";
}

// A near name is no advice where the name is right.
TEST(ModelConfigJson, ANearNameIsSaidToBeAnotherNetwork) {
  EXPECT_THAT(
      [] {
        model_config_from_json({{"model_type", "roc_bert"}}, "file");
      },
      testing::ThrowsMessage<InputError>(HasSubstr("If the name is right, that is another network")));
}

}  // namespace
}  // namespace sim
