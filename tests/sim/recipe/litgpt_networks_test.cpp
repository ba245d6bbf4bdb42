#include "sim/recipe/litgpt_networks.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

TEST(LitgptNetworks, ByTheLastPartOfAName) {
  const std::optional<ModelConfig> pythia = litgpt_network("checkpoints/EleutherAI/pythia-160m/");
  ASSERT_TRUE(pythia);
  EXPECT_EQ(pythia->model_type, "gpt_neox");
  EXPECT_EQ(pythia->layers, 12);
  EXPECT_EQ(pythia->ffn, 3072);
  EXPECT_EQ(pythia->vocabulary, 50304);
  EXPECT_EQ(pythia->rotary_share, 0.25);
  EXPECT_TRUE(pythia->parallel_blocks && pythia->mlp_bias);
  EXPECT_FALSE(litgpt_network("pythia"));
  EXPECT_FALSE(litgpt_network(""));
  EXPECT_FALSE(litgpt_network("falcon-7b"));  // one norm for both halves: no row
}

TEST(LitgptNetworks, LlamasAndQwens) {
  const ModelConfig llama = litgpt_network("meta-llama/Llama-3.1-8B").value(), qwen = litgpt_network("Qwen2.5-7B").value();
  EXPECT_EQ(llama.kv_heads, 8);
  EXPECT_EQ(llama.rope_scaling.kind, RopeScalingKind::Llama3);
  EXPECT_EQ(llama.rope_scaling.factor, 8);
  EXPECT_FALSE(llama.attention_bias);
  EXPECT_TRUE(qwen.attention_bias && qwen.gated_mlp);
  EXPECT_EQ(qwen.rope_theta, 1e6);
  EXPECT_EQ(litgpt_network("meta-llama/Meta-Llama-3-8B")->hidden, 4096);
  EXPECT_EQ(litgpt_network("Llama-3-8B")->rope_scaling.kind, RopeScalingKind::None);
}

TEST(LitgptNetworks, SizesOfBlocksThatAreNotReadAreSaid) {
  const std::string text =
      "model_config:\n  n_layer: 2\n  n_embd: 64\n  n_head: 4\n  mlp_class_name: LLaMAMoE\n  n_expert: 4\nout_dir: a\n"
      "train:\n  micro_batch_size: 1\n  global_batch_size: 4\n  lr_warmup_steps: 2\n";
  const RecipeContext context{.model = {}, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{1})};
  EXPECT_THAT(testing::refusal_of(text, context), ::testing::HasSubstr("blocks that are not read here (LLaMAMoE)"));
}

}  // namespace
}  // namespace sim
