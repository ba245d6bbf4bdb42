#include <gmock/gmock.h>

#include "class_configs.h"
#include "sim/model/family.h"
#include "sim/model/model_graph.h"

namespace sim {
namespace {

using ::testing::ElementsAre;

TEST(DenseFamilies, NormsGatesAndBiases) {
  EXPECT_FALSE(class_config("arcee").gated_mlp);
  EXPECT_EQ(class_config("arcee").activation, Activation::SquaredRelu);
  EXPECT_EQ(class_config("exaone4").norm_place, NormPlace::Behind);
  EXPECT_EQ(class_config("hyperclovax").norm_place, NormPlace::Around);
  EXPECT_FALSE(class_config("nanochat").norm_weight);
  EXPECT_EQ(class_config("nanochat").logit_cap, 15);
  EXPECT_TRUE(class_config("seed_oss").attention_bias && !class_config("seed_oss").projection_bias);
  EXPECT_TRUE(class_config("ernie4_5", R"({"use_bias": true})").mlp_bias);
  EXPECT_EQ(class_config("hunyuan_v1_dense").qk_norm, QkNorm::Turned);
  EXPECT_TRUE(class_config("eurobert").bidirectional);
  EXPECT_EQ(class_config("emu3_text_model").rope_theta, 1e6);
}

// Without a list of layers, three of four have the window; in EXAONE 4 the others have no positions.
TEST(DenseFamilies, WindowsAndPositionsByLayer) {
  const ModelConfig exaone = class_config("exaone4");
  EXPECT_EQ(exaone.window, 4096);
  EXPECT_THAT(exaone.windowed, ElementsAre(true, true, true, false, true, true, true, false));
  EXPECT_THAT(exaone.unturned, ElementsAre(false, false, false, true, false, false, false, true));
  EXPECT_THAT(class_config("exaone4", R"({"layer_types": null, "sliding_window_pattern": "LLG"})").windowed,
              ElementsAre(true, true, false, true, true, false, true, true));
  EXPECT_TRUE(class_config("exaone4", R"({"sliding_window": null})").unturned.empty());
  EXPECT_TRUE(class_config("olmo3").unturned.empty());
  EXPECT_THAT(class_config("smollm3").unturned, ElementsAre(false, false, false, true, false, false, false, true));
  EXPECT_THAT(class_config("cwm", R"({"layer_types": null})").windowed, ElementsAre(false, true, true, true, false, true, true, true));
}

// OLMo 3 stretches positions where layers see all, and there alone.
TEST(DenseFamilies, AMethodOfPositionsIsOfLayersWithoutAWindow) {
  EXPECT_EQ(class_config("olmo3").local_rope_theta, 0);
  const char* yarn = R"({"rope_parameters": null, "rope_theta": 500000.0,
                         "rope_scaling": {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 8192}})";
  EXPECT_EQ(class_config("olmo3", yarn).local_rope_theta, 500000);
}

TEST(DenseFamilies, FactorsByDepthAndWidth) {
  const ModelConfig config = class_config("minicpm3");
  EXPECT_EQ(config.embedding_factor, 12);
  EXPECT_DOUBLE_EQ(config.residual_factor, 1.4 / std::sqrt(8.0));
  EXPECT_DOUBLE_EQ(config.logit_factor, 256.0 / 2560);
}

TEST(DenseFamilies, ActivationsThatAreTrainedAndNormsWithin) {
  const ModelConfig apertus = class_config("apertus");
  EXPECT_EQ(apertus.activation, Activation::Xielu);
  EXPECT_FALSE(apertus.gated_mlp);
  EXPECT_EQ(class_config("apertus", R"({"rope_parameters": null})").rope_scaling, apertus.rope_scaling) << "as its class takes it";
  EXPECT_TRUE(class_config("bitnet").inner_norms);
  const auto billions = [](const ModelConfig& config) { return static_cast<double>(num_parameters(make_model_graph(config, {1}))) / 1e9; };
  EXPECT_NEAR(billions(class_config("apertus", R"({"hidden_size": 4096, "intermediate_size": 21504, "num_hidden_layers": 32,
      "num_key_value_heads": 8})")),
              8.05, 0.05)
      << "Apertus-8B";
  EXPECT_NEAR(billions(class_config("bitnet", R"({"num_hidden_layers": 30, "tie_word_embeddings": true})")), 2.41, 0.02) << "b1.58-2B-4T";
}

}  // namespace
}  // namespace sim
