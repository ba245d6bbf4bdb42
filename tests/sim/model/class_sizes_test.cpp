#include "sim/model/class_sizes.h"

#include <gmock/gmock.h>

#include "sim/model/config_notes.h"
#include "sim/model/family.h"
#include "sim/model/model_graph.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

std::int64_t parameters_of(const Json& json) { return num_parameters(make_model_graph(model_config_from_json(json, "file"), {1})); }

TEST(ClassSizes, EveryRowIsOfAFamilyAndCompleteEnough) {
  for (const ClassSizes& row : all_class_sizes()) {
    EXPECT_NE(find_family(row.family), nullptr) << row.family;
    EXPECT_GT(std::min({row.hidden, row.heads, row.vocabulary}), 0) << row.family;
  }
}

// As published: of Gemma 3 4B, LLaVA 1.5 and Pixtral 12B. Numbers: Transformers' networks of the text.
TEST(ClassSizes, ATextWithinAnotherFileLeavesOutWhatItsClassTakes) {
  const Json gemma = {{"hidden_size", 2560},
                      {"intermediate_size", 10240},
                      {"model_type", "gemma3_text"},
                      {"num_hidden_layers", 34},
                      {"rope_scaling", {{"factor", 8.0}, {"rope_type", "linear"}}},
                      {"sliding_window", 1024}};
  EXPECT_EQ(parameters_of({{"model_type", "gemma3"}, {"text_config", gemma}}), 3'880'263'168);
  EXPECT_EQ(parameters_of({{"model_type", "llava"}, {"text_config", {{"model_type", "llama"}, {"vocab_size", 32064}}}}), 6'738'939'904);
  const Json pixtral = {{"model_type", "mistral"}, {"hidden_size", 5120},     {"head_dim", 128},     {"intermediate_size", 14336},
                        {"rms_norm_eps", 1e-5},    {"num_hidden_layers", 40}, {"vocab_size", 131072}};
  EXPECT_EQ(parameters_of({{"model_type", "llava"}, {"text_config", pixtral}}), 12'247'782'400);
}

TEST(ClassSizes, WhatIsTakenIsTold) {
  const std::vector<Violation> notes =
      config_notes_of({{"model_type", "llava"}, {"text_config", {{"model_type", "llama"}, {"vocab_size", 32064}}}});
  const auto hidden = std::ranges::find(notes, "hidden_size", &Violation::where);
  ASSERT_NE(hidden, notes.end());
  EXPECT_THAT(hidden->problem, HasSubstr("4096 is taken"));
  EXPECT_EQ(std::ranges::find(notes, "vocab_size", &Violation::where), notes.end());
}

TEST(ClassSizes, AFileOfItsOwnMustSayThem) {
  EXPECT_THAT(
      [] {
        model_config_from_json({{"model_type", "llama"}, {"vocab_size", 32064}}, "file");
      },
      testing::ThrowsMessage<InputError>(HasSubstr("/hidden_size: is missing")));
}

// Mistral's class has 8 of them, where Llama's has as many as heads.
TEST(ClassSizes, HeadsOfKeysAreThoseOfTheClass) {
  Json mistral = load_json_file("profiles/models/mistral-7b.json");
  const ModelConfig whole = model_config_from_json(mistral, "file");
  mistral.erase("num_key_value_heads");
  EXPECT_EQ(model_config_from_json(mistral, "file"), whole);
  mistral["num_attention_heads"] = 28;
  EXPECT_THAT([&] { model_config_from_json(mistral, "file"); }, testing::ThrowsMessage<InputError>(HasSubstr("8 are taken then")));
  Json llama = load_json_file("profiles/models/llama-3-8b.json");
  llama.erase("num_key_value_heads");
  EXPECT_EQ(model_config_from_json(llama, "file").kv_heads, 32);
}

}  // namespace
}  // namespace sim
