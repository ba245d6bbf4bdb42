// Families whose class stands beside their weights and not in Transformers; each row as that class has it.
#include "sim/model/family.h"

namespace sim {
namespace {

constexpr Key kHostedBias[] = {flag_key("bias", &ModelConfig::attention_bias)};
constexpr Key kHostedQwen2[] = {flag_key("attention_bias", &ModelConfig::attention_bias), {"sliding_window", Part::Windows}};
constexpr Key kHostedExaone[] = {
    size_key("num_layers", &ModelConfig::layers, KeyUse::Needed, "num_hidden_layers"),
    size_key("hidden_size", &ModelConfig::hidden),
    size_key("num_attention_heads", &ModelConfig::heads),
    size_key("num_key_value_heads", &ModelConfig::kv_heads, KeyUse::Written),
    size_key("head_dim", &ModelConfig::head_dim, KeyUse::Written),
    size_key("intermediate_size", &ModelConfig::ffn),
    size_key("max_position_embeddings", &ModelConfig::max_positions, KeyUse::Written),
    size_key("vocab_size", &ModelConfig::vocabulary),
    {"activation_function", &ModelConfig::activation},
    positive_key("layer_norm_epsilon", &ModelConfig::norm_epsilon),
    {"rope_theta", Part::Rotary},
    deviation_key("initializer_range"),
    share_key("embed_dropout", &ModelConfig::embedding_dropout),
    share_key("attention_dropout", &ModelConfig::attention_dropout),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};
// Its width counts gate and up together.
constexpr Key kHostedQwen[] = {
    size_key("num_hidden_layers", &ModelConfig::layers),
    size_key("hidden_size", &ModelConfig::hidden),
    size_key("num_attention_heads", &ModelConfig::heads),
    size_key("kv_channels", &ModelConfig::head_dim, KeyUse::Written),
    size_key("seq_length", &ModelConfig::max_positions, KeyUse::Written),
    size_key("vocab_size", &ModelConfig::vocabulary),
    positive_key("layer_norm_epsilon", &ModelConfig::norm_epsilon),
    {"intermediate_size", Part::BothHalves},
    {"rope_theta", Part::Rotary},
    deviation_key("initializer_range"),
    share_key("emb_dropout_prob", &ModelConfig::embedding_dropout),
    share_key("attn_dropout_prob", &ModelConfig::attention_dropout),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};
constexpr Key kHostedChatGlm[] = {
    size_key("num_layers", &ModelConfig::layers, KeyUse::Needed, "num_hidden_layers"),
    size_key("hidden_size", &ModelConfig::hidden),
    size_key("num_attention_heads", &ModelConfig::heads),
    size_key("multi_query_group_num", &ModelConfig::kv_heads, KeyUse::Written),
    size_key("kv_channels", &ModelConfig::head_dim, KeyUse::Written),
    size_key("ffn_hidden_size", &ModelConfig::ffn),
    size_key("seq_length", &ModelConfig::max_positions, KeyUse::Written),
    size_key("padded_vocab_size", &ModelConfig::vocabulary, KeyUse::Needed, "vocab_size"),
    positive_key("layernorm_epsilon", &ModelConfig::norm_epsilon),
    {"rope_ratio", Part::RopeRatio},
    share_key("hidden_dropout", &ModelConfig::residual_dropout),
    share_key("attention_dropout", &ModelConfig::attention_dropout),
    flag_key("add_qkv_bias", &ModelConfig::attention_bias),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};
constexpr Key kHostedLing[] = {flag_key("use_bias", &ModelConfig::projection_bias),
                               flag_key("use_qkv_bias", &ModelConfig::attention_bias),
                               share_key("embedding_dropout", &ModelConfig::embedding_dropout),
                               share_key("output_dropout", &ModelConfig::residual_dropout),
                               {"use_qk_norm", &ModelConfig::qk_norm},
                               flag_key("norm_head", &ModelConfig::normed_head, KeyUse::WhenOther),
                               {"", Part::Experts},
                               {"moe_router_enable_expert_bias", Part::CorrectedScores}};
constexpr Key kHostedBaichuan[] = {
    size_key("num_hidden_layers", &ModelConfig::layers),
    size_key("hidden_size", &ModelConfig::hidden),
    size_key("num_attention_heads", &ModelConfig::heads),
    size_key("intermediate_size", &ModelConfig::ffn),
    size_key("vocab_size", &ModelConfig::vocabulary),
    {"hidden_act", &ModelConfig::activation},
    positive_key("rms_norm_eps", &ModelConfig::norm_epsilon),
    {"", Part::BaichuanPositions},
    deviation_key("initializer_range"),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};
constexpr Key kHostedOpenElm[] = {
    size_key("num_transformer_layers", &ModelConfig::layers, KeyUse::Needed, "num_hidden_layers"),
    size_key("model_dim", &ModelConfig::hidden, KeyUse::Needed, "hidden_size"),
    size_key("head_dim", &ModelConfig::head_dim),
    size_key("max_context_length", &ModelConfig::max_positions, KeyUse::Written),
    size_key("vocab_size", &ModelConfig::vocabulary),
    {"activation_fn_name", &ModelConfig::activation},
    {"num_query_heads", Part::LayerScaling},
    positive_key("rope_freq_constant", &ModelConfig::rope_theta),
    {"normalize_qk_projections", &ModelConfig::qk_norm},
    flag_key("ffn_with_glu", &ModelConfig::gated_mlp),
    deviation_key("initializer_range"),
    flag_key("share_input_output_layers", &ModelConfig::tied_embeddings),
};
constexpr Key kHostedDeci[] = {flag_key("attention_bias", &ModelConfig::attention_bias),
                               flag_key("mlp_bias", &ModelConfig::mlp_bias),
                               {"block_configs", Part::BlockConfigs}};
constexpr Key kHostedDeciSizes[] = {
    size_key("num_hidden_layers", &ModelConfig::layers),
    size_key("hidden_size", &ModelConfig::hidden),
    size_key("num_attention_heads", &ModelConfig::heads),
    size_key("max_position_embeddings", &ModelConfig::max_positions, KeyUse::Written),
    size_key("vocab_size", &ModelConfig::vocabulary),
    {"hidden_act", &ModelConfig::activation},
    positive_key("rms_norm_eps", &ModelConfig::norm_epsilon),
    {"rope_theta", Part::Rotary},
    deviation_key("initializer_range"),
    share_key("attention_dropout", &ModelConfig::attention_dropout),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};
constexpr Switch kHostedOpenElmSwitches[] = {{"normalization_layer_name", "\"rms_norm\"", "LayerNorm"}};
constexpr Switch kHostedQwenSwitches[] = {{"no_bias", "true", "biases of all products"},
                                          {"rotary_pct", "1.0", "rotary positions on a share of the head"}};
constexpr Switch kHostedChatGlmSwitches[] = {{"position_encoding_2d", "false", "the first ChatGLM, whose positions have two axes,"},
                                             {"multi_query_attention", "true", "keys and values of every head"},
                                             {"rmsnorm", "true", "LayerNorm"},
                                             {"post_layer_norm", "true", "a network without its last norm"},
                                             {"add_bias_linear", "false", "biases of all products"},
                                             {"apply_residual_connection_post_layernorm", "false", "a stream of norms' outputs"}};
constexpr Switch kHostedLingSwitches[] = {{"use_sliding_window", "false", "a window"}, {"use_rmsnorm", "true", "LayerNorm"}};

void describe_internlm(ModelConfig& config) {
  describe_llama(config);
  config.attention_bias = true;
}
void describe_ling(ModelConfig& config) {
  describe_llama(config);
  config.max_positions = 16384;
  ExpertForm& form = config.experts.emplace();
  form.renormalised = true;
}

const Family kHostedFamilies[] = {
    {.name = "internlm", .keys = llama_keys(), .more = kHostedBias, .describe = describe_internlm, .complete = projection_follows},
    {.name = "internlm2", .keys = llama_keys(), .more = kHostedBias, .describe = describe_internlm, .complete = projection_follows},
    {.name = "exaone",
     .keys = kHostedExaone,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
         }},
    {.name = "mimo", .keys = llama_keys(), .more = kHostedQwen2, .describe = describe_qwen2, .windows = WindowPattern::SwitchedLate},
    {.name = "orion",
     .keys = llama_keys(),
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm = Norm::LayerNorm;
           config.norm_epsilon = 1e-5;
         }},
    {.name = "openelm",
     .keys = kHostedOpenElm,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.qk_norm = QkNorm::Heads;
           config.tied_embeddings = true;
         },
     .switches = kHostedOpenElmSwitches},
    {.name = "nemotron-nas", .keys = kHostedDeciSizes, .more = kHostedDeci, .describe = describe_llama, .complete = projection_follows},
    {.name = "qwen", .keys = kHostedQwen, .describe = describe_qwen2, .switches = kHostedQwenSwitches},
    {.name = "chatglm",
     .keys = kHostedChatGlm,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.rotary_share = 0.5;
         },
     .switches = kHostedChatGlmSwitches},
    {.name = "baichuan", .keys = kHostedBaichuan, .describe = describe_llama},
    {.name = "bailing_moe", .keys = llama_keys(), .more = kHostedLing, .describe = describe_ling, .switches = kHostedLingSwitches},
    {.name = "bailing_moe_v2", .keys = llama_keys(), .more = kHostedLing, .describe = describe_ling, .switches = kHostedLingSwitches},
};

}  // namespace

std::span<const Family> hosted_families() { return kHostedFamilies; }

}  // namespace sim
