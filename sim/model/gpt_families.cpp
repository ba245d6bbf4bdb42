#include "sim/model/family.h"

namespace sim {
namespace {

constexpr Key kGpt2[] = {
    size_key("n_layer", &ModelConfig::layers, KeyUse::Needed, "num_hidden_layers"),
    size_key("n_embd", &ModelConfig::hidden, KeyUse::Needed, "hidden_size"),
    size_key("n_head", &ModelConfig::heads, KeyUse::Needed, "num_attention_heads"),
    size_key("n_inner", &ModelConfig::ffn, KeyUse::Written),
    size_key("n_positions", &ModelConfig::max_positions, KeyUse::Needed, "max_position_embeddings"),
    size_key("vocab_size", &ModelConfig::vocabulary),
    {"activation_function", &ModelConfig::activation},
    positive_key("layer_norm_epsilon", &ModelConfig::norm_epsilon),
    deviation_key("initializer_range"),
    share_key("embd_pdrop", &ModelConfig::embedding_dropout),
    share_key("resid_pdrop", &ModelConfig::residual_dropout),
    share_key("attn_pdrop", &ModelConfig::attention_dropout),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};
constexpr Switch kGpt2Switches[] = {{"scale_attn_weights", "true", "unscaled attention"},
                                    {"scale_attn_by_inverse_layer_idx", "false", "attention scaled by the layer"},
                                    {"add_cross_attention", "false", "cross-attention"}};

constexpr Key kGptNeox[] = {
    size_key("num_hidden_layers", &ModelConfig::layers),
    size_key("hidden_size", &ModelConfig::hidden),
    size_key("num_attention_heads", &ModelConfig::heads),
    size_key("intermediate_size", &ModelConfig::ffn),
    size_key("max_position_embeddings", &ModelConfig::max_positions, KeyUse::Written),
    size_key("vocab_size", &ModelConfig::vocabulary),
    {"hidden_act", &ModelConfig::activation},
    positive_key("layer_norm_eps", &ModelConfig::norm_epsilon),
    {"rotary_pct", &ModelConfig::rotary_share, KeyUse::Written, {}, 0.01, 1},
    {"rotary_emb_base", Part::Rotary},
    deviation_key("initializer_range"),
    share_key("hidden_dropout", &ModelConfig::residual_dropout),
    share_key("attention_dropout", &ModelConfig::attention_dropout),
    flag_key("attention_bias", &ModelConfig::attention_bias),
    flag_key("use_parallel_residual", &ModelConfig::parallel_blocks),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};

constexpr Key kOpt[] = {
    size_key("num_hidden_layers", &ModelConfig::layers),
    size_key("hidden_size", &ModelConfig::hidden),
    size_key("num_attention_heads", &ModelConfig::heads),
    size_key("ffn_dim", &ModelConfig::ffn),
    size_key("max_position_embeddings", &ModelConfig::max_positions, KeyUse::Written),
    size_key("vocab_size", &ModelConfig::vocabulary),
    size_key("word_embed_proj_dim", &ModelConfig::embedding_width, KeyUse::WhenOther),
    {"activation_function", &ModelConfig::activation},
    deviation_key("init_std"),
    share_key("dropout", &ModelConfig::residual_dropout),
    share_key("attention_dropout", &ModelConfig::attention_dropout),
    flag_key("do_layer_norm_before", &ModelConfig::final_norm),
    flag_key("enable_bias", &ModelConfig::attention_bias),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};
constexpr Switch kOptSwitches[] = {{"layer_norm_elementwise_affine", "true", "norms without weights"},
                                   {"_remove_final_layer_norm", "false", "no norm in front of the head"}};

constexpr Key kBloom[] = {
    size_key("n_layer", &ModelConfig::layers, KeyUse::Needed, "num_hidden_layers"),
    size_key("hidden_size", &ModelConfig::hidden, KeyUse::Needed, "n_embed"),
    size_key("n_head", &ModelConfig::heads, KeyUse::Needed, "num_attention_heads"),
    size_key("vocab_size", &ModelConfig::vocabulary),
    positive_key("layer_norm_epsilon", &ModelConfig::norm_epsilon),
    deviation_key("initializer_range"),
    share_key("hidden_dropout", &ModelConfig::residual_dropout),
    share_key("attention_dropout", &ModelConfig::attention_dropout),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};
constexpr Switch kBloomSwitches[] = {{"apply_residual_connection_post_layernorm", "false", "a residual behind the norm"}};

constexpr Key kFalcon[] = {
    size_key("num_hidden_layers", &ModelConfig::layers, KeyUse::Needed, "n_layer"),
    size_key("hidden_size", &ModelConfig::hidden, KeyUse::Needed, "n_embed"),
    size_key("num_attention_heads", &ModelConfig::heads, KeyUse::Needed, "n_head"),
    size_key("ffn_hidden_size", &ModelConfig::ffn, KeyUse::Written),
    size_key("max_position_embeddings", &ModelConfig::max_positions, KeyUse::Written),
    size_key("vocab_size", &ModelConfig::vocabulary),
    {"activation", &ModelConfig::activation},
    positive_key("layer_norm_epsilon", &ModelConfig::norm_epsilon),
    {"rope_theta", Part::Rotary},
    {"", Part::FalconBlock},
    deviation_key("initializer_range"),
    share_key("hidden_dropout", &ModelConfig::residual_dropout),
    share_key("attention_dropout", &ModelConfig::attention_dropout),
    flag_key("bias", &ModelConfig::attention_bias),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};

constexpr Key kStarcoder2[] = {
    size_key("num_hidden_layers", &ModelConfig::layers),
    size_key("hidden_size", &ModelConfig::hidden),
    size_key("num_attention_heads", &ModelConfig::heads),
    size_key("num_key_value_heads", &ModelConfig::kv_heads, KeyUse::Written),
    size_key("intermediate_size", &ModelConfig::ffn),
    size_key("max_position_embeddings", &ModelConfig::max_positions, KeyUse::Written),
    size_key("vocab_size", &ModelConfig::vocabulary),
    {"hidden_act", &ModelConfig::activation},
    positive_key("norm_epsilon", &ModelConfig::norm_epsilon),
    {"rope_theta", Part::Rotary},
    {"sliding_window", Part::Windows},
    deviation_key("initializer_range"),
    share_key("embedding_dropout", &ModelConfig::embedding_dropout),
    share_key("residual_dropout", &ModelConfig::residual_dropout),
    share_key("attention_dropout", &ModelConfig::attention_dropout),
    flag_key("use_bias", &ModelConfig::attention_bias),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};

void describe_gpt2(ModelConfig& config) {
  with_biases(config);
  config.tied_embeddings = true;
  config.embedding_dropout = config.residual_dropout = config.attention_dropout = 0.1;
}

constexpr Family kGptFamilies[] = {
    {.name = "gpt2", .keys = kGpt2, .describe = describe_gpt2, .switches = kGpt2Switches},
    {.name = "gpt-sw3", .keys = kGpt2, .describe = describe_gpt2, .switches = kGpt2Switches},  // GPT-2's class, with a tokenizer of its own
    {.name = "gpt_neox",
     .keys = kGptNeox,
     .describe =
         [](ModelConfig& config) {
           with_biases(config);
           config.position = Position::Rotary;
           config.activation = Activation::Gelu;
           config.max_positions = 2048;
           config.rotary_share = 0.25;
           config.parallel_blocks = true;
         },
     .complete =
         [](ModelConfig& config) {
           config.projection_bias = config.attention_bias;
           config.embedding_dropout = config.residual_dropout;
         }},
    {.name = "opt",
     .keys = kOpt,
     .describe =
         [](ModelConfig& config) {
           with_biases(config);
           config.activation = Activation::Relu;
           config.max_positions = 2048;
           config.position_offset = 2;
           config.tied_embeddings = true;
           config.residual_dropout = 0.1;
         },
     .switches = kOptSwitches,
     .complete =
         [](ModelConfig& config) {
           biases_follow(config);
           config.embedding_dropout = config.residual_dropout;
           if (!config.final_norm) config.norm_place = NormPlace::AfterSum;
           if (config.embedding_width == config.hidden) config.embedding_width = 0;
         }},
    {.name = "bloom",
     .keys = kBloom,
     .describe =
         [](ModelConfig& config) {
           with_biases(config);
           config.position = Position::Alibi;
           config.max_positions = 2048;
           config.embedding_norm = config.tied_embeddings = true;
         },
     .switches = kBloomSwitches},
    {.name = "falcon",
     .keys = kFalcon,
     .describe =
         [](ModelConfig& config) {
           config.position = Position::Rotary;
           config.activation = Activation::Gelu;
           config.max_positions = 2048;
           config.tied_embeddings = true;
         },
     .complete = biases_follow},
    {.name = "starcoder2",
     .keys = kStarcoder2,
     .describe =
         [](ModelConfig& config) {
           with_biases(config);
           config.position = Position::Rotary;
           config.max_positions = 4096;
           config.initializer_range = 0.018042;
           config.tied_embeddings = true;
         },
     .windows = WindowPattern::All,
     .complete = biases_follow},
};

}  // namespace

void with_biases(ModelConfig& config) { config.attention_bias = config.projection_bias = config.mlp_bias = true; }
void biases_follow(ModelConfig& config) { config.projection_bias = config.mlp_bias = config.attention_bias; }

std::span<const Family> gpt_families() { return kGptFamilies; }

}  // namespace sim
