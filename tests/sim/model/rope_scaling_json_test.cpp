#include "sim/model/rope_scaling_json.h"

#include <gmock/gmock.h>

#include "sim/units/json_reader.h"

namespace sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kStretched = R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 8,
                              "intermediate_size": 128, "vocab_size": 100, "max_position_embeddings": 131072, )";

ModelConfig stretched(const std::string& more) {
  return model_config_from_json(parse_json(kStretched + more + "}", "config.json"), "config.json");
}

std::string told_of(const std::string& more) {
  try {
    stretched(more);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

// As meta-llama/Llama-3.1-8B, Qwen/Qwen2.5, deepseek-ai/DeepSeek-V3 and microsoft/Phi-3-mini-128k write it (numbers of pairs cut).
TEST(RopeScalingJson, EveryMethodIsReadAndWrittenBack) {
  const auto back = [](const std::string& more) {
    const ModelConfig config = stretched(more);
    EXPECT_EQ(model_config_from_json(to_json(config), "again"), config) << more;
    return config.rope_scaling;
  };
  EXPECT_EQ(back(R"("rope_scaling": {"type": "linear", "factor": 4.0})"), (RopeScaling{.kind = RopeScalingKind::Linear, .factor = 4}));
  EXPECT_EQ(back(R"("rope_scaling": {"type": "dynamic", "factor": 2.0})"), (RopeScaling{.kind = RopeScalingKind::Dynamic, .factor = 2}));
  EXPECT_EQ(back(R"("rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "rope_type": "llama3",
                    "original_max_position_embeddings": 8192})"),
            (RopeScaling{.kind = RopeScalingKind::Llama3, .factor = 8, .original_positions = 8192}));
  EXPECT_EQ(back(R"("rope_scaling": {"beta_fast": 32, "beta_slow": 1, "factor": 40, "mscale": 1.0, "mscale_all_dim": 1.0,
                    "original_max_position_embeddings": 4096, "type": "yarn"})"),
            (RopeScaling{.kind = RopeScalingKind::Yarn, .factor = 40, .original_positions = 4096, .mscale = 1, .mscale_all_dim = 1}));
  EXPECT_EQ(back(R"("original_max_position_embeddings": 4096, "rope_scaling": {"type": "su", "short_factor": [1, 1.1, 1.2, 1.3],
                    "long_factor": [2, 3, 4, 5.5]})"),
            (RopeScaling{.kind = RopeScalingKind::LongRope,
                         .factor = 32,
                         .original_positions = 4096,
                         .short_factor = {1, 1.1, 1.2, 1.3},
                         .long_factor = {2, 3, 4, 5.5}}));
}

TEST(RopeScalingJson, RopeParametersHoldTheBaseToo) {
  const ModelConfig config = stretched(R"("rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 500000.0})");
  EXPECT_EQ(config.rope_theta, 500000.0);
  EXPECT_EQ(config.rope_scaling.factor, 2.0);
}

TEST(RopeScalingJson, UnscaledPositionsWriteNothing) {
  EXPECT_FALSE(to_json(stretched(R"("rope_scaling": {"type": "default"})")).contains("rope_scaling"));
}

TEST(RopeScalingJson, FaultsAreTold) {
  EXPECT_THAT(told_of(R"("rope_scaling": {"type": "mrope"})"), HasSubstr("default, linear, dynamic, yarn, llama3, longrope"));
  EXPECT_THAT(told_of(R"("rope_scaling": {"rope_type": "llama3"})"),
              AllOf(HasSubstr("/rope_scaling/factor"), HasSubstr("high_freq_factor")));
  EXPECT_THAT(told_of(R"("rope_scaling": {"type": "longrope", "short_factor": [1, 2], "long_factor": [1, 2, 3, -4]})"),
              AllOf(HasSubstr("short_factor: is no list of 4 positive numbers"), HasSubstr("long_factor: is no list")));
  EXPECT_THAT(told_of(R"("rope_scaling": {"type": "longrope"})"), HasSubstr("short_factor: is no list"));
}

}  // namespace
}  // namespace sim
