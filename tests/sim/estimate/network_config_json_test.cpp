#include <gmock/gmock.h>

#include "sim/estimate/layer_work.h"
#include "sim/estimate/network_config.h"
#include "sim/units/input_error.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

Network network(const char* config) { return network_from_config(Json::parse(config), "config.json"); }

// Parameters of everything, in billions, from the shapes alone.
double billions(const Network& net) {
  RunDescription run;
  run.network = net;
  double total = (net.tied ? 1 : 2) * embedding_parameters(run).dense;
  for (std::int64_t layer = 0; layer < net.layers; ++layer) total += block_parameters(run, block_kind(net, layer)).total();
  return total / 1e9;
}

constexpr const char* kMixtral = R"({"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
  "num_attention_heads": 32, "num_key_value_heads": 8, "num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 32000, "sliding_window": null})";
constexpr const char* kDeepseek =
    R"({"model_type": "deepseek_v3", "hidden_size": 7168, "intermediate_size": 18432, "moe_intermediate_size": 2048,
  "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 128, "n_routed_experts": 256, "n_shared_experts": 1,
  "num_experts_per_tok": 8, "first_k_dense_replace": 3, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
  "v_head_dim": 128, "vocab_size": 129280})";

TEST(NetworkConfig, PublishedSizesComeOut) {
  EXPECT_NEAR(billions(network(kMixtral)), 46.7, 0.2);  // Jiang et al. 2024
  EXPECT_NEAR(billions(network(kDeepseek)), 671, 4);    // DeepSeek-AI 2024, without the module that predicts further tokens
  EXPECT_NEAR(billions(network(R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257})")), 0.124,
              0.002);
}

TEST(NetworkConfig, ActiveWeightsDecideTheWork) {
  Network net = network(kDeepseek);
  net.sequence = 1;
  net.effective_sequence = 1;
  EXPECT_NEAR(model_flops(net) / 6e9, 37, 1);  // 37 billion parameters a token, as published
}

TEST(NetworkConfig, WindowsAndLatentAttention) {
  EXPECT_EQ(network(kMixtral).attention.kind, AttentionKind::Full);
  EXPECT_EQ(network(kDeepseek).attention.kv_lora, 512);
  const Network oss = network(
      R"({"model_type": "gpt_oss", "hidden_size": 2880, "intermediate_size": 2880, "num_hidden_layers": 24, "num_attention_heads": 64,
    "num_key_value_heads": 8, "head_dim": 64, "num_local_experts": 32, "num_experts_per_tok": 4, "vocab_size": 201088, "sliding_window": 128})");
  EXPECT_EQ(oss.attention.kind, AttentionKind::Sliding);
  EXPECT_EQ(oss.attention.every, 2);
  EXPECT_NEAR(billions(oss), 20.9, 0.5);
}

TEST(NetworkConfig, OnlyLearnedPositionsEnd) {
  EXPECT_EQ(
      network(R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257, "n_positions": 1024})").positions,
      1024);
  EXPECT_EQ(network(R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "vocab_size": 8,
    "max_position_embeddings": 4096})")
                .positions,
            0);
}

TEST(NetworkConfig, FaultsAreNamed) {
  EXPECT_THROW(network(R"({"model_type": "unheard of"})"), InputError);
  EXPECT_THROW(network(R"({"model_type": "llama", "hidden_size": 64})"), InputError);
  EXPECT_THROW(network(R"({"model_type": "llama", "hidden_size": -1, "num_hidden_layers": 2, "num_attention_heads": 2, "vocab_size": 8})"),
               InputError);
}

}  // namespace
}  // namespace sim
