#include "sim/recipe/torchtitan_registry.h"

#include "sim/model/model_graph.h"
#include "tests/sim/recipe/recipes.h"

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

// The name may stand in brackets, on a line of its own; of one that is not known here the batch is not, either.
TEST(TorchtitanRegistry, AFunctionOfTheRegistryInBrackets) {
  const auto told = [](const std::string& name) {
    const std::string text = "from torchtitan.models.llama3.config_registry import (\n    " + name +
                             ",\n)\n\n\ndef mine() -> Trainer.Config:\n    config = " + name +
                             "()\n    config.parallelism.data_parallel_shard_degree = 8\n    return config\n";
    const RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
    return testing::text_of(testing::imported(text, context).unknown);
  };
  EXPECT_THAT(told("llama3_of_mine"), ::testing::HasSubstr("llama3_of_mine is no function or flavor known here"));
}

}  // namespace
}  // namespace sim
