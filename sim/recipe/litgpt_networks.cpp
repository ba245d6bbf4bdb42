// Facts: litgpt/config.py (Lightning-AI/litgpt, 0.5.13).
#include "sim/recipe/litgpt_networks.h"

#include <algorithm>
#include <iterator>

#include "sim/recipe/program.h"

namespace sim {
namespace {

enum class BlocksOf : std::uint8_t { NeoX, Llama, Qwen };

struct LitgptNetwork {
  std::string_view names;
  BlocksOf kind;
  std::int64_t layers, hidden, heads, kv_heads, ffn, vocabulary, positions;
  double theta, epsilon, stretched;  // positions by Llama 3.1's method; 0: they are not
};
constexpr LitgptNetwork kNetworksOfLitgpt[] = {
    // names, kind, layers, hidden, heads, kv_heads, ffn, vocabulary, positions, theta, epsilon, stretched
    {"stablelm-base-alpha-3b stablelm-tuned-alpha-3b", BlocksOf::NeoX, 16, 4096, 32, 32, 16'384, 50'688, 4096, 10'000, 1e-5, 0},
    {"stablelm-base-alpha-7b stablelm-tuned-alpha-7b", BlocksOf::NeoX, 16, 6144, 48, 48, 24'576, 50'432, 4096, 10'000, 1e-5, 0},
    {"stablecode-completion-alpha-3b", BlocksOf::NeoX, 32, 2560, 32, 32, 10'240, 49'152, 16'384, 10'000, 1e-5, 0},
    {"stablecode-completion-alpha-3b-4k stablecode-instruct-alpha-3b", BlocksOf::NeoX, 32, 2560, 32, 32, 10'240, 49'152, 4096, 10'000, 1e-5,
     0},
    {"pythia-14m", BlocksOf::NeoX, 6, 128, 4, 4, 512, 50'304, 512, 10'000, 1e-5, 0},
    {"pythia-31m", BlocksOf::NeoX, 6, 256, 8, 8, 1024, 50'304, 1024, 10'000, 1e-5, 0},
    {"pythia-70m pythia-70m-deduped", BlocksOf::NeoX, 6, 512, 8, 8, 2048, 50'304, 2048, 10'000, 1e-5, 0},
    {"pythia-160m pythia-160m-deduped", BlocksOf::NeoX, 12, 768, 12, 12, 3072, 50'304, 2048, 10'000, 1e-5, 0},
    {"pythia-410m pythia-410m-deduped", BlocksOf::NeoX, 24, 1024, 16, 16, 4096, 50'304, 2048, 10'000, 1e-5, 0},
    {"pythia-1b pythia-1b-deduped", BlocksOf::NeoX, 16, 2048, 8, 8, 8192, 50'304, 2048, 10'000, 1e-5, 0},
    {"pythia-1.4b pythia-1.4b-deduped", BlocksOf::NeoX, 24, 2048, 16, 16, 8192, 50'304, 2048, 10'000, 1e-5, 0},
    {"pythia-2.8b pythia-2.8b-deduped", BlocksOf::NeoX, 32, 2560, 32, 32, 10'240, 50'304, 2048, 10'000, 1e-5, 0},
    {"pythia-6.9b pythia-6.9b-deduped", BlocksOf::NeoX, 32, 4096, 32, 32, 16'384, 50'432, 2048, 10'000, 1e-5, 0},
    {"pythia-12b pythia-12b-deduped", BlocksOf::NeoX, 36, 5120, 40, 40, 20'480, 50'688, 2048, 10'000, 1e-5, 0},
    {"Falcon3-1B-Base Falcon3-1B-Instruct", BlocksOf::Llama, 18, 2048, 8, 4, 8192, 131'072, 4096, 1'000'042, 1e-6, 0},
    {"Falcon3-3B-Base Falcon3-3B-Instruct", BlocksOf::Llama, 22, 3072, 12, 4, 9216, 131'072, 32'768, 1'000'042, 1e-6, 0},
    {"Falcon3-7B-Base Falcon3-7B-Instruct", BlocksOf::Llama, 28, 3072, 12, 4, 23'040, 131'072, 32'768, 1'000'042, 1e-6, 0},
    {"Falcon3-10B-Base Falcon3-10B-Instruct", BlocksOf::Llama, 40, 3072, 12, 4, 23'040, 131'072, 32'768, 1'000'042, 1e-6, 0},
    {"open_llama_3b", BlocksOf::Llama, 26, 3200, 32, 32, 8640, 32'000, 2048, 10'000, 1e-6, 0},
    {"open_llama_7b", BlocksOf::Llama, 32, 4096, 32, 32, 11'008, 32'000, 2048, 10'000, 1e-6, 0},
    {"open_llama_13b", BlocksOf::Llama, 40, 5120, 40, 40, 13'824, 32'000, 2048, 10'000, 1e-6, 0},
    {"Llama-2-7b-hf Llama-2-7b-chat-hf Platypus2-7B", BlocksOf::Llama, 32, 4096, 32, 32, 11'008, 32'000, 4096, 10'000, 1e-5, 0},
    {"Llama-2-13b-hf Llama-2-13b-chat-hf Platypus2-13B Camel-Platypus2-13B Stable-Platypus2-13B", BlocksOf::Llama, 40, 5120, 40, 40, 13'824,
     32'000, 4096, 10'000, 1e-5, 0},
    {"Llama-2-70b-hf Llama-2-70b-chat-hf FreeWilly2 Camel-Platypus2-70B Platypus2-70B-instruct", BlocksOf::Llama, 80, 8192, 64, 8, 28'672,
     32'000, 4096, 10'000, 1e-5, 0},
    {"Llama-3-8B Meta-Llama-3-8B Llama-3-8B-Instruct Meta-Llama-3-8B-Instruct", BlocksOf::Llama, 32, 4096, 32, 8, 14'336, 128'256, 8192,
     500'000, 1e-5, 0},
    {"Llama-3.1-8B Meta-Llama-3.1-8B Llama-3.1-8B-Instruct Meta-Llama-3.1-8B-Instruct R1-Distill-Llama-8B DeepSeek-R1-Distill-Llama-8B",
     BlocksOf::Llama, 32, 4096, 32, 8, 14'336, 128'256, 131'072, 500'000, 1e-5, 8},
    {"Llama-3-70B Meta-Llama-3-70B Llama-3-70B-Instruct Meta-Llama-3-70B-Instruct", BlocksOf::Llama, 80, 8192, 64, 8, 28'672, 128'256, 8192,
     500'000, 1e-5, 0},
    {"Llama-3.1-70B Meta-Llama-3.1-70B Llama-3.1-70B-Instruct Meta-Llama-3.1-70B-Instruct Llama-3.3-70B-Instruct "
     "Llama-3.1-Nemotron-70B-Instruct-HF R1-Distill-Llama-70B DeepSeek-R1-Distill-Llama-70B",
     BlocksOf::Llama, 80, 8192, 64, 8, 28'672, 128'256, 131'072, 500'000, 1e-5, 8},
    {"Llama-3.1-405B Meta-Llama-3.1-405B Llama-3.1-405B-Instruct Meta-Llama-3.1-405B-Instruct", BlocksOf::Llama, 126, 16'384, 128, 8,
     53'248, 128'256, 131'072, 500'000, 1e-5, 8},
    {"Llama-3.2-1B Llama-3.2-1B-Instruct", BlocksOf::Llama, 16, 2048, 32, 8, 8192, 128'256, 131'072, 500'000, 1e-5, 32},
    {"Llama-3.2-3B Llama-3.2-3B-Instruct", BlocksOf::Llama, 28, 3072, 24, 8, 8192, 128'256, 131'072, 500'000, 1e-5, 32},
    {"CodeLlama-7b-hf CodeLlama-7b-Instruct-hf", BlocksOf::Llama, 32, 4096, 32, 32, 11'008, 32'016, 16'384, 1'000'000, 1e-5, 0},
    {"CodeLlama-13b-hf", BlocksOf::Llama, 40, 5120, 40, 40, 13'824, 32'016, 16'384, 1'000'000, 1e-5, 0},
    {"CodeLlama-34b-hf CodeLlama-34b-Python-hf CodeLlama-34b-Instruct-hf", BlocksOf::Llama, 48, 8192, 64, 8, 22'016, 32'000, 16'384,
     1'000'000, 1e-5, 0},
    {"CodeLlama-70b-hf CodeLlama-70b-Python-hf CodeLlama-70b-Instruct-hf", BlocksOf::Llama, 80, 8192, 64, 8, 28'672, 32'016, 16'384,
     1'000'000, 1e-5, 0},
    {"CodeLlama-7b-Python-hf", BlocksOf::Llama, 32, 4096, 32, 32, 11'008, 32'000, 16'384, 1'000'000, 1e-5, 0},
    {"CodeLlama-13b-Python-hf", BlocksOf::Llama, 40, 5120, 40, 40, 13'824, 32'000, 16'384, 1'000'000, 1e-5, 0},
    {"CodeLlama-13b-Instruct-hf", BlocksOf::Llama, 40, 5120, 40, 40, 13'824, 32'016, 2048, 1'000'000, 1e-5, 0},
    {"Platypus-30B", BlocksOf::Llama, 60, 6656, 52, 52, 17'920, 32'000, 2048, 10'000, 1e-6, 0},
    {"Platypus2-70B", BlocksOf::Llama, 80, 8192, 64, 64, 28'672, 32'000, 4096, 10'000, 1e-5, 0},
    {"Phi-3.5-mini-instruct", BlocksOf::Llama, 32, 3072, 32, 32, 8192, 32'064, 4096, 10'000, 1e-5, 0},
    {"phi-4", BlocksOf::Llama, 40, 5120, 40, 10, 17'920, 100'352, 16'384, 250'000, 1e-5, 0},
    {"Phi-4-reasoning Phi-4-reasoning-plus", BlocksOf::Llama, 40, 5120, 40, 10, 17'920, 100'352, 32'768, 500'000, 1e-5, 0},
    {"Mistral-7B-v0.2 Mistral-7B-Instruct-v0.2", BlocksOf::Llama, 32, 4096, 32, 8, 14'336, 32'000, 32'768, 1'000'000, 1e-5, 0},
    {"Mistral-7B-v0.3 Mistral-7B-Instruct-v0.3", BlocksOf::Llama, 32, 4096, 32, 8, 14'336, 32'768, 32'768, 1'000'000, 1e-5, 0},
    {"Mistral-Large-Instruct-2407 Mistral-Large-Instruct-2411", BlocksOf::Llama, 88, 12'288, 96, 8, 28'672, 32'768, 32'768, 1'000'000, 1e-5,
     0},
    {"tiny-llama-1.1b TinyLlama-1.1B-intermediate-step-1431k-3T tiny-llama-1.1b-chat TinyLlama-1.1B-Chat-v1.0", BlocksOf::Llama, 22, 2048,
     32, 4, 5632, 32'000, 2048, 10'000, 1e-5, 0},
    {"micro-llama-300M MicroLlama", BlocksOf::Llama, 12, 1024, 16, 4, 5632, 32'000, 2048, 10'000, 1e-5, 0},
    {"Llama-2-7b-chat-hf-function-calling-v2", BlocksOf::Llama, 32, 4096, 32, 32, 11'008, 32'000, 4096, 10'000, 1e-6, 0},
    {"Qwen2.5-0.5B Qwen2.5-0.5B-Instruct Qwen2.5-Coder-0.5B Qwen2.5-Coder-0.5B-Instruct", BlocksOf::Qwen, 24, 896, 14, 2, 4864, 151'936,
     32'768, 1'000'000, 1e-6, 0},
    {"Qwen2.5-1.5B Qwen2.5-1.5B-Instruct", BlocksOf::Qwen, 28, 1536, 12, 2, 8960, 151'936, 131'072, 1'000'000, 1e-6, 0},
    {"Qwen2.5-3B Qwen2.5-3B-Instruct Qwen2.5-Coder-3B Qwen2.5-Coder-3B-Instruct", BlocksOf::Qwen, 36, 2048, 16, 2, 11'008, 151'936, 32'768,
     1'000'000, 1e-6, 0},
    {"Qwen2.5-7B Qwen2.5-7B-Instruct", BlocksOf::Qwen, 28, 3584, 28, 4, 18'944, 152'064, 131'072, 1'000'000, 1e-6, 0},
    {"Qwen2.5-14B Qwen2.5-14B-Instruct", BlocksOf::Qwen, 48, 5120, 40, 8, 13'824, 152'064, 131'072, 1'000'000, 1e-5, 0},
    {"Qwen2.5-32B Qwen2.5-32B-Instruct QwQ-32B", BlocksOf::Qwen, 64, 5120, 40, 8, 27'648, 152'064, 131'072, 1'000'000, 1e-5, 0},
    {"Qwen2.5-72B Qwen2.5-72B-Instruct", BlocksOf::Qwen, 80, 8192, 64, 8, 29'568, 152'064, 131'072, 1'000'000, 1e-5, 0},
    {"Qwen2.5-Coder-1.5B Qwen2.5-Coder-1.5B-Instruct", BlocksOf::Qwen, 28, 1536, 12, 2, 8960, 151'936, 32'768, 1'000'000, 1e-6, 0},
    {"Qwen2.5-Coder-7B Qwen2.5-Coder-7B-Instruct", BlocksOf::Qwen, 28, 3584, 28, 4, 18'944, 152'064, 32'768, 1'000'000, 1e-6, 0},
    {"Qwen2.5-Coder-14B Qwen2.5-Coder-14B-Instruct", BlocksOf::Qwen, 48, 5120, 40, 8, 13'824, 152'064, 32'768, 1'000'000, 1e-5, 0},
    {"Qwen2.5-Coder-32B Qwen2.5-Coder-32B-Instruct QwQ-32B-Preview", BlocksOf::Qwen, 64, 5120, 40, 8, 27'648, 152'064, 32'768, 1'000'000,
     1e-5, 0},
    {"Qwen2.5-Math-1.5B Qwen2.5-Math-1.5B-Instruct", BlocksOf::Qwen, 28, 1536, 12, 2, 8960, 151'936, 4096, 10'000, 1e-6, 0},
    {"Qwen2.5-Math-7B Qwen2.5-Math-7B-Instruct", BlocksOf::Qwen, 28, 3584, 28, 4, 18'944, 152'064, 4096, 10'000, 1e-6, 0},
    {"Qwen2.5-Math-72B Qwen2.5-Math-72B-Instruct", BlocksOf::Qwen, 80, 8192, 64, 8, 29'568, 152'064, 4096, 10'000, 1e-5, 0},
    {"Qwen2.5-7B-Instruct-1M", BlocksOf::Qwen, 28, 3584, 28, 4, 18'944, 152'064, 1'010'000, 10'000'000, 1e-5, 0},
    {"Qwen2.5-14B-Instruct-1M", BlocksOf::Qwen, 48, 5120, 40, 8, 13'824, 152'064, 1'010'000, 10'000'000, 1e-5, 0},
    {"salamandra-2b salamandra-2b-instruct", BlocksOf::Llama, 24, 2048, 16, 16, 5440, 256'000, 8192, 10'000, 1e-5, 0},
    {"salamandra-7b salamandra-7b-instruct", BlocksOf::Llama, 32, 4096, 32, 8, 11'008, 256'000, 8192, 10'000, 1e-6, 0},
    {"SmolLM2-135M SmolLM2-135M-Instruct", BlocksOf::Llama, 30, 576, 9, 3, 1536, 49'152, 8192, 100'000, 1e-5, 0},
    {"SmolLM2-360M SmolLM2-360M-Instruct", BlocksOf::Llama, 32, 960, 15, 5, 2560, 49'152, 8192, 100'000, 1e-5, 0},
    {"SmolLM2-1.7B SmolLM2-1.7B-Instruct", BlocksOf::Llama, 24, 2048, 32, 32, 8192, 49'152, 8192, 130'000, 1e-5, 0},
};

void describe_neox(ModelConfig& model) {
  model.model_type = "gpt_neox";
  model.activation = Activation::Gelu;
  model.rotary_share = 0.25;
  model.parallel_blocks = true;
  model.attention_bias = model.projection_bias = model.mlp_bias = true;
}

void describe_llama(ModelConfig& model, const LitgptNetwork& network) {
  model.model_type = network.kind == BlocksOf::Qwen ? "qwen2" : "llama";
  model.norm = Norm::RmsNorm;
  model.activation = Activation::Silu;
  model.gated_mlp = true;
  model.attention_bias = network.kind == BlocksOf::Qwen;
  if (network.stretched > 0)
    model.rope_scaling = {.kind = RopeScalingKind::Llama3, .factor = network.stretched, .original_positions = 8192};
}

ModelConfig network_of_row(const LitgptNetwork& network) {
  ModelConfig model;
  model.layers = network.layers;
  model.hidden = network.hidden;
  model.heads = network.heads;
  model.kv_heads = network.kv_heads;
  model.head_dim = network.hidden / network.heads;
  model.ffn = network.ffn;
  model.vocabulary = network.vocabulary;
  model.max_positions = network.positions;
  model.position = Position::Rotary;
  model.rope_theta = network.theta;
  model.norm_epsilon = network.epsilon;
  if (network.kind == BlocksOf::NeoX)
    describe_neox(model);
  else
    describe_llama(model, network);
  return model;
}

}  // namespace

// What is not said is as in litgpt/config.py: GPT-NeoX's blocks of 4,096 positions.
std::optional<ModelConfig> litgpt_network_of_sizes(const Draft& draft) {
  const auto size = [&](const char* name, std::int64_t otherwise) {
    return std::clamp<std::int64_t>(
        static_cast<std::int64_t>(number_of(draft, std::string("model_config.") + name, static_cast<double>(otherwise))), 1, 1'000'000);
  };
  const auto word = [&](const char* name, const char* otherwise) { return text_of(draft, std::string("model_config.") + name, otherwise); };
  const auto flag = [&](const char* name, const char* otherwise) { return is_on(word(name, otherwise)); };
  if (said(draft, "model_config.n_layer") == nullptr || said(draft, "model_config.n_embd") == nullptr) return std::nullopt;
  const bool is_llama = word("mlp_class_name", "GptNeoxMLP") == "LLaMAMLP" && word("norm_class_name", "LayerNorm") == "RMSNorm" &&
                        !flag("bias", "true") && !flag("parallel_residual", "true");
  const bool is_neox =
      word("mlp_class_name", "GptNeoxMLP") == "GptNeoxMLP" && word("norm_class_name", "LayerNorm") == "LayerNorm" && flag("bias", "true");
  if (!is_llama && !is_neox) return std::nullopt;
  LitgptNetwork network{.names = {},
                        .kind = is_llama ? BlocksOf::Llama : BlocksOf::NeoX,
                        .layers = size("n_layer", 16),
                        .hidden = size("n_embd", 4096),
                        .heads = size("n_head", 32),
                        .kv_heads = 0,
                        .ffn = 0,
                        .vocabulary = size("padded_vocab_size", size("vocab_size", 50'254)),
                        .positions = size("block_size", 4096),
                        .theta = static_cast<double>(size("rope_base", 10'000)),
                        .epsilon = 1e-5,
                        .stretched = 0};
  network.kv_heads = size("n_query_groups", network.heads);
  network.ffn = size("intermediate_size", 4 * network.hidden);
  ModelConfig model = network_of_row(network);
  model.head_dim = size("head_size", std::max<std::int64_t>(1, network.hidden / network.heads));
  model.parallel_blocks = is_neox && flag("parallel_residual", "true");
  model.rotary_share = std::clamp(number_of(draft, "model_config.rotary_percentage", 0.25), 0.0, 1.0);
  model.tied_embeddings = is_on(text_of(draft, "train.tie_embeddings", ""));
  return model;
}

std::optional<ModelConfig> litgpt_network(std::string_view name) {
  while (name.ends_with('/')) name.remove_suffix(1);
  const std::string_view last = name.substr(name.rfind('/') + 1);
  const auto row = std::ranges::find_if(kNetworksOfLitgpt, [&](const LitgptNetwork& one) { return has_name(one.names, last); });
  if (last.empty() || row == std::end(kNetworksOfLitgpt)) return std::nullopt;
  return network_of_row(*row);
}

}  // namespace sim
