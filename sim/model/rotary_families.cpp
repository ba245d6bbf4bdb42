// Decoders with LayerNorm whose positions are no table, and GPT-2's kin; each row as its class in Transformers has it.
#include <cmath>

#include "sim/model/family.h"

namespace sim {
namespace {

constexpr Key kPlainSizes[] = {
    size_key("num_hidden_layers", &ModelConfig::layers),
    size_key("hidden_size", &ModelConfig::hidden),
    size_key("num_attention_heads", &ModelConfig::heads),
    size_key("num_key_value_heads", &ModelConfig::kv_heads, KeyUse::Written),
    size_key("head_dim", &ModelConfig::head_dim, KeyUse::Written),
    size_key("intermediate_size", &ModelConfig::ffn),
    size_key("max_position_embeddings", &ModelConfig::max_positions, KeyUse::Written),
    size_key("vocab_size", &ModelConfig::vocabulary),
    {"hidden_act", &ModelConfig::activation},
    {"partial_rotary_factor", &ModelConfig::rotary_share, KeyUse::WhenOther, {}, 0.01, 1},
    {"rope_theta", Part::Rotary},
    deviation_key("initializer_range"),
    share_key("attention_dropout", &ModelConfig::attention_dropout),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};
constexpr Key kPlainLogitScale[] = {positive_key("layer_norm_eps", &ModelConfig::norm_epsilon),
                                    flag_key("attention_bias", &ModelConfig::attention_bias),
                                    positive_key("logit_scale", &ModelConfig::logit_factor)};
constexpr Key kPlainLogitScaleAndWindows[] = {positive_key("layer_norm_eps", &ModelConfig::norm_epsilon),
                                              flag_key("attention_bias", &ModelConfig::attention_bias),
                                              positive_key("logit_scale", &ModelConfig::logit_factor),
                                              {"sliding_window", Part::Windows}};
constexpr Key kPlainPhi[] = {positive_key("layer_norm_eps", &ModelConfig::norm_epsilon),
                             share_key("embd_pdrop", &ModelConfig::embedding_dropout),
                             share_key("resid_pdrop", &ModelConfig::residual_dropout),
                             {"qk_layernorm", &ModelConfig::qk_norm}};
constexpr Key kPlainPersimmon[] = {positive_key("layer_norm_eps", &ModelConfig::norm_epsilon),
                                   share_key("hidden_dropout", &ModelConfig::residual_dropout),
                                   {"qk_layernorm", &ModelConfig::qk_norm}};
constexpr Key kPlainStableLm[] = {
    positive_key("layer_norm_eps", &ModelConfig::norm_epsilon), flag_key("use_qkv_bias", &ModelConfig::attention_bias),
    flag_key("use_parallel_residual", &ModelConfig::parallel_blocks), share_key("hidden_dropout", &ModelConfig::residual_dropout)};
constexpr Key kPlainJais[] = {positive_key("layer_norm_eps", &ModelConfig::norm_epsilon),
                              flag_key("attention_bias", &ModelConfig::attention_bias), flag_key("mlp_bias", &ModelConfig::mlp_bias)};
constexpr Key kPlainNemotron[] = {positive_key("norm_eps", &ModelConfig::norm_epsilon),
                                  flag_key("attention_bias", &ModelConfig::attention_bias), flag_key("mlp_bias", &ModelConfig::mlp_bias)};
constexpr Key kPlainGptNeo[] = {
    size_key("num_layers", &ModelConfig::layers, KeyUse::Needed, "num_hidden_layers"),
    size_key("hidden_size", &ModelConfig::hidden),
    size_key("num_heads", &ModelConfig::heads, KeyUse::Needed, "num_attention_heads"),
    size_key("intermediate_size", &ModelConfig::ffn, KeyUse::Written),
    size_key("max_position_embeddings", &ModelConfig::max_positions),
    size_key("vocab_size", &ModelConfig::vocabulary),
    {"activation_function", &ModelConfig::activation},
    positive_key("layer_norm_epsilon", &ModelConfig::norm_epsilon),
    {"attention_types", Part::GptNeo},
    deviation_key("initializer_range"),
    share_key("embed_dropout", &ModelConfig::embedding_dropout),
    share_key("resid_dropout", &ModelConfig::residual_dropout),
    share_key("attention_dropout", &ModelConfig::attention_dropout),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};
constexpr Key kPlainGpt[] = {
    size_key("n_layer", &ModelConfig::layers, KeyUse::Needed, "num_hidden_layers"),
    size_key("n_embd", &ModelConfig::hidden, KeyUse::Needed, "hidden_size"),
    size_key("n_head", &ModelConfig::heads, KeyUse::Needed, "num_attention_heads"),
    size_key("n_positions", &ModelConfig::max_positions, KeyUse::Needed, "max_position_embeddings"),
    size_key("vocab_size", &ModelConfig::vocabulary),
    positive_key("layer_norm_epsilon", &ModelConfig::norm_epsilon),
    deviation_key("initializer_range"),
    share_key("embd_pdrop", &ModelConfig::embedding_dropout),
    share_key("resid_pdrop", &ModelConfig::residual_dropout),
    share_key("attn_pdrop", &ModelConfig::attention_dropout),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};
constexpr Key kPlainGptJ[] = {size_key("n_inner", &ModelConfig::ffn, KeyUse::Written),
                              {"activation_function", &ModelConfig::activation},
                              {"rotary_dim", Part::RotaryDim}};
constexpr Key kPlainBigCode[] = {size_key("n_inner", &ModelConfig::ffn, KeyUse::Written),
                                 {"activation_function", &ModelConfig::activation},
                                 {"multi_query", Part::MultiQuery}};
constexpr Key kPlainMosaic[] = {
    size_key("n_layers", &ModelConfig::layers, KeyUse::Needed, "num_hidden_layers"),
    size_key("d_model", &ModelConfig::hidden, KeyUse::Needed, "hidden_size"),
    size_key("n_heads", &ModelConfig::heads, KeyUse::Needed, "num_attention_heads"),
    size_key("max_seq_len", &ModelConfig::max_positions, KeyUse::Needed, "max_position_embeddings"),
    size_key("vocab_size", &ModelConfig::vocabulary),
    {"attn_config", Part::Mosaic},
    deviation_key("initializer_range"),
    share_key("emb_pdrop", &ModelConfig::embedding_dropout),
    share_key("resid_pdrop", &ModelConfig::residual_dropout),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};
constexpr Key kPlainMpt[] = {positive_key("layer_norm_epsilon", &ModelConfig::norm_epsilon)};
constexpr Key kPlainBioGpt[] = {
    size_key("num_hidden_layers", &ModelConfig::layers),
    size_key("hidden_size", &ModelConfig::hidden),
    size_key("num_attention_heads", &ModelConfig::heads),
    size_key("intermediate_size", &ModelConfig::ffn),
    size_key("max_position_embeddings", &ModelConfig::max_positions),
    size_key("vocab_size", &ModelConfig::vocabulary),
    {"hidden_act", &ModelConfig::activation},
    positive_key("layer_norm_eps", &ModelConfig::norm_epsilon),
    deviation_key("initializer_range"),
    share_key("hidden_dropout_prob", &ModelConfig::residual_dropout),
    share_key("attention_probs_dropout_prob", &ModelConfig::attention_dropout),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};
constexpr Key kPlainCtrl[] = {
    size_key("n_layer", &ModelConfig::layers, KeyUse::Needed, "num_hidden_layers"),
    size_key("n_embd", &ModelConfig::hidden, KeyUse::Needed, "hidden_size"),
    size_key("n_head", &ModelConfig::heads, KeyUse::Needed, "num_attention_heads"),
    size_key("dff", &ModelConfig::ffn),
    size_key("n_positions", &ModelConfig::max_positions, KeyUse::Needed, "max_position_embeddings"),
    size_key("vocab_size", &ModelConfig::vocabulary),
    positive_key("layer_norm_epsilon", &ModelConfig::norm_epsilon),
    deviation_key("initializer_range"),
    share_key("embd_pdrop", &ModelConfig::embedding_dropout),
    share_key("resid_pdrop", &ModelConfig::residual_dropout),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};
constexpr Key kPlainXglm[] = {
    size_key("num_layers", &ModelConfig::layers, KeyUse::Needed, "num_hidden_layers"),
    size_key("d_model", &ModelConfig::hidden, KeyUse::Needed, "hidden_size"),
    size_key("attention_heads", &ModelConfig::heads, KeyUse::Needed, "num_attention_heads"),
    size_key("ffn_dim", &ModelConfig::ffn),
    size_key("max_position_embeddings", &ModelConfig::max_positions),
    size_key("vocab_size", &ModelConfig::vocabulary),
    {"activation_function", &ModelConfig::activation},
    deviation_key("init_std"),
    share_key("dropout", &ModelConfig::residual_dropout),
    share_key("attention_dropout", &ModelConfig::attention_dropout),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};
constexpr Switch kPlainNoHeadNorm[] = {{"qk_layernorm", "false", "norms of queries and keys, of each head with weights of its own"}};
constexpr Switch kPlainNoWideHeadNorm[] = {{"use_qk_norm", "false", "norms of queries and keys, of each head with weights of its own"}};
constexpr Switch kPlainScaled[] = {{"scale_embedding", "true", "an embedding without its factor"}};
constexpr Switch kPlainBigCodeSwitches[] = {{"scale_attn_weights", "true", "unscaled attention"},
                                            {"add_cross_attention", "false", "cross-attention"}};

void describe_cohere(ModelConfig& config) {
  describe_llama(config);
  config.norm = Norm::LayerNorm;
  config.norm_bias = false;
  config.norm_epsilon = 1e-5;
  config.max_positions = 8192;
  config.parallel_blocks = config.shared_norm = config.tied_embeddings = true;
  config.logit_factor = 0.0625;
}
void describe_rotary(ModelConfig& config) {
  config.position = Position::Rotary;
  config.max_positions = 2048;
}
void describe_gptj(ModelConfig& config) {
  describe_rotary(config);
  config.parallel_blocks = config.shared_norm = config.mlp_bias = config.head_bias = true;
}
void scale_by_width(ModelConfig& config) {
  config.embedding_factor = std::sqrt(static_cast<double>(config.hidden));
  config.embedding_dropout = config.residual_dropout;
}

constexpr Family kRotaryFamilies[] = {
    {.name = "cohere",
     .keys = kPlainSizes,
     .more = kPlainLogitScale,
     .describe = describe_cohere,
     .switches = kPlainNoWideHeadNorm,
     .complete = projection_follows},
    {.name = "cohere2",
     .keys = kPlainSizes,
     .more = kPlainLogitScaleAndWindows,
     .describe =
         [](ModelConfig& config) {
           describe_cohere(config);
           config.window = 4096;
         },
     .windows = WindowPattern::AllButEveryFourth,
     .complete = windows_turn},
    {.name = "phi",
     .keys = kPlainSizes,
     .more = kPlainPhi,
     .describe =
         [](ModelConfig& config) {
           describe_rotary(config);
           with_biases(config);
           config.rotary_share = 0.5;
           config.parallel_blocks = config.shared_norm = config.head_bias = true;
         }},
    {.name = "persimmon",
     .keys = kPlainSizes,
     .more = kPlainPersimmon,
     .describe =
         [](ModelConfig& config) {
           describe_rotary(config);
           with_biases(config);
           config.activation = Activation::SquaredRelu;
           config.max_positions = 16384;
           config.rotary_share = 0.5;
           config.qk_norm = QkNorm::Heads;
         }},
    {.name = "stablelm",
     .keys = kPlainSizes,
     .more = kPlainStableLm,
     .describe =
         [](ModelConfig& config) {
           describe_rotary(config);
           config.activation = Activation::Silu;
           config.gated_mlp = true;
           config.max_positions = 4096;
           config.rotary_share = 0.25;
         },
     .switches = kPlainNoHeadNorm,
     .complete = [](ModelConfig& config) { config.shared_norm = config.parallel_blocks; }},
    {.name = "jais2",
     .keys = kPlainSizes,
     .more = kPlainJais,
     .describe =
         [](ModelConfig& config) {
           describe_rotary(config);
           with_biases(config);
           config.activation = Activation::SquaredRelu;
           config.max_positions = 8192;
         },
     .complete = projection_follows},
    {.name = "nemotron",
     .keys = kPlainSizes,
     .more = kPlainNemotron,
     .describe =
         [](ModelConfig& config) {
           describe_rotary(config);
           config.activation = Activation::SquaredRelu;
           config.max_positions = 4096;
           config.initializer_range = 0.0134;
           config.rotary_share = 0.5;
           config.offset_norm = true;
         },
     .complete = projection_follows},
    {.name = "gptj", .keys = kPlainGpt, .more = kPlainGptJ, .describe = describe_gptj},
    {.name = "codegen", .keys = kPlainGpt, .more = kPlainGptJ, .describe = describe_gptj},
    {.name = "gpt_neo",
     .keys = kPlainGptNeo,
     .describe = [](ModelConfig& config) { config.projection_bias = config.mlp_bias = config.tied_embeddings = true; }},
    {.name = "gpt_bigcode",
     .keys = kPlainGpt,
     .more = kPlainBigCode,
     .describe =
         [](ModelConfig& config) {
           with_biases(config);
           config.tied_embeddings = true;
           config.embedding_dropout = config.residual_dropout = config.attention_dropout = 0.1;
         },
     .switches = kPlainBigCodeSwitches},
    {.name = "openai-gpt",
     .keys = kPlainGpt,
     .describe =
         [](ModelConfig& config) {
           with_biases(config);
           config.norm_place = NormPlace::AfterSum;
           config.final_norm = false;
           config.tied_embeddings = true;
           config.embedding_dropout = config.residual_dropout = config.attention_dropout = 0.1;
         }},
    {.name = "mpt",
     .keys = kPlainMosaic,
     .more = kPlainMpt,
     .describe =
         [](ModelConfig& config) {
           config.activation = Activation::Gelu;
           config.norm_bias = false;
           config.tied_embeddings = true;
         },
     .complete = biases_follow},
    {.name = "dbrx",
     .keys = kPlainMosaic,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm = Norm::LayerNorm;
           config.norm_bias = false;
           config.norm_epsilon = 1e-5;
         }},
    {.name = "biogpt",
     .keys = kPlainBioGpt,
     .describe =
         [](ModelConfig& config) {
           with_biases(config);
           config.activation = Activation::Gelu;
           config.norm_epsilon = 1e-12;
           config.position_offset = 2;
           config.tied_embeddings = true;
           config.residual_dropout = config.attention_dropout = 0.1;
         },
     .switches = kPlainScaled,
     .complete = scale_by_width},
    {.name = "ctrl",
     .keys = kPlainCtrl,
     .describe =
         [](ModelConfig& config) {
           with_biases(config);
           config.position = Position::None;  // a table of sines, which nobody trains
           config.activation = Activation::Relu;
           config.norm_epsilon = 1e-6;
           config.head_bias = config.tied_embeddings = true;
           config.embedding_dropout = config.residual_dropout = 0.1;
         },
     .complete = [](ModelConfig& config) { config.embedding_factor = std::sqrt(static_cast<double>(config.hidden)); }},
    {.name = "xglm",
     .keys = kPlainXglm,
     .describe =
         [](ModelConfig& config) {
           with_biases(config);
           config.position = Position::None;  // a table of sines, which nobody trains
           config.activation = Activation::Gelu;
           config.tied_embeddings = true;
           config.residual_dropout = config.attention_dropout = 0.1;
         },
     .switches = kPlainScaled,
     .complete = scale_by_width},
};

}  // namespace

std::span<const Family> rotary_families() { return kRotaryFamilies; }

}  // namespace sim
