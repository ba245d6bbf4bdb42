#include <gmock/gmock.h>

#include "sim/model/model_differences.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

ModelConfig read(const std::string& model_type, const std::string& more) {
  return model_config_from_json(Json::parse(R"({"model_type": ")" + model_type + R"(", "num_hidden_layers": 2, "hidden_size": 16,
      "num_attention_heads": 2, "num_key_value_heads": 2, "intermediate_size": 32, "vocab_size": 31)" +
                                            more + "}"),
                                "config.json");
}

std::vector<std::string> names(const ModelConfig& planned, const ModelConfig& of_weights) {
  std::vector<std::string> keys;
  for (const Violation& violation : function_differences(planned, of_weights)) keys.push_back(violation.where);
  return keys;
}

TEST(ModelDifferences, TheSameFunctionHasNone) {
  EXPECT_THAT(names(read("llama", ""), read("llama", "")), testing::IsEmpty());
  EXPECT_THAT(names(read("llama", ""), read("mistral", "")), testing::IsEmpty()) << "another name for it";
  EXPECT_THAT(names(read("llama", R"(, "attention_dropout": 0.1)"), read("llama", R"(, "initializer_range": 0.1)")), testing::IsEmpty());
  EXPECT_THAT(names(read("llama", R"(, "max_position_embeddings": 64)"), read("llama", "")), testing::IsEmpty());
}

TEST(ModelDifferences, WhatChangesTheFunctionIsNamed) {
  const ModelConfig plain = read("llama", "");
  EXPECT_THAT(names(plain, read("llama", R"(, "rope_theta": 5e5)")), testing::ElementsAre("rope_theta"));
  EXPECT_THAT(names(plain, read("llama", R"(, "rms_norm_eps": 1e-5)")), testing::ElementsAre("rms_norm_eps"));
  EXPECT_THAT(names(plain, read("llama", R"(, "tie_word_embeddings": true)")), testing::ElementsAre("tie_word_embeddings"));
  EXPECT_THAT(names(plain, read("llama", R"(, "hidden_act": "gelu")")), testing::ElementsAre("hidden_act"));
  EXPECT_THAT(names(plain, read("llama", R"(, "rope_scaling": {"rope_type": "linear", "factor": 4})")), testing::Contains("rope_scaling"));
  EXPECT_THAT(names(read("qwen2", ""), read("llama", "")), testing::Contains("model_type")) << "qwen2 has biases";
}

TEST(ModelDifferences, NoRemedyTakesAnythingOut) {
  for (const Violation& violation : function_differences(read("qwen2", ""), read("llama", R"(, "rope_theta": 5e5)")))
    EXPECT_EQ(violation.remedy, "plan with the config.json of the weights");
}

}  // namespace
}  // namespace sim
