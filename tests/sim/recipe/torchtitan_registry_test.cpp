#include "sim/recipe/torchtitan_registry.h"

#include <gmock/gmock.h>

#include "sim/model/model_graph.h"

namespace sim {
namespace {

TEST(TorchtitanRegistry, ByFunctionAndByFlavor) {
  ASSERT_NE(torchtitan_function("llama3_70b"), nullptr);
  EXPECT_EQ(torchtitan_function("llama3_70b")->flavor, "70B");
  EXPECT_EQ(torchtitan_function(""), nullptr);
  EXPECT_FALSE(torchtitan_flavor("llama3", "7T"));
  EXPECT_FALSE(torchtitan_flavor("qwen3", "70B"));
}

TEST(TorchtitanRegistry, NetworksAreThoseOfTheirNames) {
  EXPECT_EQ(torchtitan_flavor("llama3", "8B")->ffn, 14336);
  EXPECT_EQ(torchtitan_flavor("llama3", "8B")->rope_scaling.kind, RopeScalingKind::Llama3);
  EXPECT_TRUE(torchtitan_flavor("llama3", "1B")->tied_embeddings);
  EXPECT_EQ(torchtitan_flavor("llama2", "26B")->ffn, 13'824);
  EXPECT_EQ(torchtitan_flavor("llama3", "8B_flex")->layers, 32);
  EXPECT_EQ(torchtitan_flavor("llama2", "70B")->rope_theta, 10'000);
  EXPECT_EQ(torchtitan_flavor("llama2", "70B")->vocabulary, 32'000);
  EXPECT_EQ(torchtitan_flavor("qwen3", "8B")->qk_norm, QkNorm::Heads);
}

// The flavors of published networks have their parameters.
TEST(TorchtitanRegistry, FlavorsHaveThePublishedNumberOfParameters) {
  const auto parameters = [](const ModelConfig& model) { return num_parameters(make_model_graph(model, {1})); };
  const auto differ = [&](std::string_view module, std::string_view flavor, const std::string& name) {
    return parameters(*torchtitan_flavor(module, flavor)) - parameters(load_model_config(name));
  };
  EXPECT_EQ(differ("qwen3", "30B-A3B", "qwen3-30b-a3b"), 0);
  EXPECT_EQ(differ("deepseek_v3", "16B", "deepseek-v2-lite"), 0);
  EXPECT_EQ(differ("deepseek_v3", "671B", "deepseek-v3"), 0);
  EXPECT_EQ(differ("gpt_oss", "20b", "gpt-oss-20b"), 0);
  EXPECT_EQ(differ("llama3", "8B", "llama-3.1-8b"), 0);
  EXPECT_EQ(differ("llama2", "7B", "llama-2-7b"), 0);
}

}  // namespace
}  // namespace sim
