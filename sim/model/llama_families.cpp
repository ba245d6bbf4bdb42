#include <cmath>

#include "sim/model/family.h"

namespace sim {
namespace {

constexpr KeyUse kOther = KeyUse::WhenOther;

constexpr Key kLlama[] = {
    size_key("num_hidden_layers", &ModelConfig::layers),
    size_key("hidden_size", &ModelConfig::hidden),
    size_key("num_attention_heads", &ModelConfig::heads),
    size_key("num_key_value_heads", &ModelConfig::kv_heads, KeyUse::Written),
    size_key("head_dim", &ModelConfig::head_dim, KeyUse::Written),
    size_key("intermediate_size", &ModelConfig::ffn),
    size_key("max_position_embeddings", &ModelConfig::max_positions, KeyUse::Written),
    size_key("vocab_size", &ModelConfig::vocabulary),
    {"hidden_act", &ModelConfig::activation},
    positive_key("rms_norm_eps", &ModelConfig::norm_epsilon),
    {"partial_rotary_factor", &ModelConfig::rotary_share, kOther, {}, 0.01, 1},
    {"rope_theta", Part::Rotary},
    deviation_key("initializer_range"),
    share_key("attention_dropout", &ModelConfig::attention_dropout),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};
constexpr Key kGemma[] = {
    size_key("num_hidden_layers", &ModelConfig::layers),
    size_key("hidden_size", &ModelConfig::hidden),
    size_key("num_attention_heads", &ModelConfig::heads),
    size_key("num_key_value_heads", &ModelConfig::kv_heads, KeyUse::Written),
    size_key("head_dim", &ModelConfig::head_dim, KeyUse::Written),
    size_key("intermediate_size", &ModelConfig::ffn),
    size_key("max_position_embeddings", &ModelConfig::max_positions, KeyUse::Written),
    size_key("vocab_size", &ModelConfig::vocabulary),
    {"hidden_activation", &ModelConfig::activation, KeyUse::Written, "hidden_act"},
    positive_key("rms_norm_eps", &ModelConfig::norm_epsilon),
    {"rope_theta", Part::Rotary},
    deviation_key("initializer_range"),
    share_key("attention_dropout", &ModelConfig::attention_dropout),
    flag_key("attention_bias", &ModelConfig::attention_bias),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};

constexpr Key kBiases[] = {flag_key("attention_bias", &ModelConfig::attention_bias), flag_key("mlp_bias", &ModelConfig::mlp_bias)};
constexpr Key kBias[] = {flag_key("attention_bias", &ModelConfig::attention_bias)};
constexpr Key kWindows[] = {{"sliding_window", Part::Windows}};
constexpr Key kBiasAndWindows[] = {flag_key("attention_bias", &ModelConfig::attention_bias), {"sliding_window", Part::Windows}};
constexpr Key kPhi3[] = {share_key("embd_pdrop", &ModelConfig::embedding_dropout),
                         share_key("resid_pdrop", &ModelConfig::residual_dropout),
                         {"sliding_window", Part::Windows}};
constexpr Key kGemmaCaps[] = {{"query_pre_attn_scalar", &ModelConfig::score_scale, KeyUse::Written},
                              {"attn_logit_softcapping", &ModelConfig::score_cap, KeyUse::Written},
                              {"final_logit_softcapping", &ModelConfig::logit_cap, KeyUse::Written},
                              {"sliding_window", Part::Windows}};
constexpr Switch kOneWay[] = {{"use_bidirectional_attention", "false", "attention to what follows"}};

// Weights of norms count from 1, tokens enter times the root of their width.
void describe_gemma(ModelConfig& config) {
  describe_llama(config);
  config.activation = Activation::GeluTanh;
  config.head_dim = 256;
  config.max_positions = 8192;
  config.tied_embeddings = config.offset_norm = true;
}

constexpr Family kLlamaFamilies[] = {
    {.name = "llama", .keys = kLlama, .more = kBiases, .describe = describe_llama, .complete = projection_follows},
    {.name = "mistral", .keys = kLlama, .more = kWindows, .describe = describe_llama, .windows = WindowPattern::All},
    {.name = "qwen2", .keys = kLlama, .more = kWindows, .describe = describe_qwen2, .windows = WindowPattern::SwitchedLate},
    {.name = "qwen3",
     .keys = kLlama,
     .more = kBiasAndWindows,
     .describe = describe_qwen3,
     .windows = WindowPattern::SwitchedLate,
     .complete = projection_follows},
    {.name = "phi3",
     .keys = kLlama,
     .more = kPhi3,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.max_positions = 4096;
         },
     .windows = WindowPattern::All},
    // Images and sound are left out: what reads them stands beside the network of text.
    {.name = "phi4_multimodal",
     .keys = kLlama,
     .more = kPhi3,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.max_positions = 131072;
         },
     .windows = WindowPattern::All},
    {.name = "gemma", .keys = kGemma, .describe = describe_gemma, .switches = kOneWay, .complete = complete_gemma},
    {.name = "gemma2",
     .keys = kGemma,
     .more = kGemmaCaps,
     .describe = describe_gemma2,
     .windows = WindowPattern::Odd,
     .switches = kOneWay,
     .complete = complete_gemma},
    {.name = "gemma3_text",
     .keys = kGemma,
     .more = kGemmaCaps,
     .describe =
         [](ModelConfig& config) {
           describe_gemma(config);
           config.norm_place = NormPlace::Around;
           config.qk_norm = QkNorm::Heads;
           config.max_positions = 131072;
           config.window = 4096;
           config.score_scale = 256;
           config.rope_theta = 1e6;
           config.local_rope_theta = 10000;
         },
     .windows = WindowPattern::AllButEveryNth,
     .switches = kOneWay,
     .complete = complete_gemma},
    {.name = "olmo2",
     .keys = kLlama,
     .more = kBias,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.qk_norm = QkNorm::Joint;
           config.norm_place = NormPlace::Behind;
         },
     .complete = projection_follows},
    {.name = "glm4",
     .keys = kLlama,
     .more = kBias,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1.5625e-7;
           config.head_dim = 128;
           config.max_positions = 131072;
           config.attention_bias = true;
           config.norm_place = NormPlace::Around;
           config.rotary_share = 0.5;
         }},
};

}  // namespace

std::span<const Key> llama_keys() { return kLlama; }
std::span<const Key> gemma_keys() { return kGemma; }
std::span<const Key> gemma_caps() { return kGemmaCaps; }
std::span<const Switch> gemma_switches() { return kOneWay; }

void describe_llama(ModelConfig& config) {
  config.norm = Norm::RmsNorm;
  config.position = Position::Rotary;
  config.activation = Activation::Silu;
  config.gated_mlp = true;
  config.norm_epsilon = 1e-6;
  config.max_positions = 2048;
}

void describe_qwen2(ModelConfig& config) {
  describe_llama(config);
  config.attention_bias = true;
}

void describe_qwen3(ModelConfig& config) {
  describe_llama(config);
  config.head_dim = 128;
  config.qk_norm = QkNorm::Heads;
}

void describe_gemma2(ModelConfig& config) {
  describe_gemma(config);
  config.norm_place = NormPlace::Around;
  config.window = 4096;
  config.score_scale = 256;
  config.score_cap = 50;
  config.logit_cap = 30;
}

void complete_gemma(ModelConfig& config) {
  config.projection_bias = config.attention_bias;
  config.embedding_factor = std::sqrt(static_cast<double>(config.hidden));
}

void projection_follows(ModelConfig& config) { config.projection_bias = config.attention_bias; }

std::span<const Family> llama_families() { return kLlamaFamilies; }

}  // namespace sim
