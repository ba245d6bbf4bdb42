// Families with an encoder and a decoder.
#include "sim/model/family.h"

namespace sim {
namespace {

constexpr Key kT5[] = {
    {"num_layers", Part::T5Stacks},
    size_key("d_model", &ModelConfig::hidden, KeyUse::Needed, "hidden_size"),
    size_key("num_heads", &ModelConfig::heads, KeyUse::Needed, "num_attention_heads"),
    size_key("d_kv", &ModelConfig::head_dim, KeyUse::Needed, "head_dim"),
    size_key("d_ff", &ModelConfig::ffn),
    size_key("vocab_size", &ModelConfig::vocabulary),
    {"feed_forward_proj", Part::T5FeedForward},
    positive_key("layer_norm_epsilon", &ModelConfig::norm_epsilon),
    share_key("dropout_rate", &ModelConfig::residual_dropout),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};
constexpr Key kLongT5[] = {{"local_radius", Part::LocalRadius}};
constexpr Key kBart[] = {
    {"encoder_layers", Part::BartStacks},
    size_key("d_model", &ModelConfig::hidden, KeyUse::Needed, "hidden_size"),
    size_key("max_position_embeddings", &ModelConfig::max_positions),
    size_key("vocab_size", &ModelConfig::vocabulary),
    {"activation_function", &ModelConfig::activation},
    {"scale_embedding", Part::ScaledEmbedding},
    deviation_key("init_std"),
    share_key("dropout", &ModelConfig::residual_dropout),
    share_key("attention_dropout", &ModelConfig::attention_dropout),
    share_key("activation_dropout", &ModelConfig::ffn_dropout),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};
constexpr Key kWhisper[] = {
    {"encoder_layers", Part::BartStacks},
    size_key("d_model", &ModelConfig::hidden, KeyUse::Needed, "hidden_size"),
    size_key("max_target_positions", &ModelConfig::max_positions, KeyUse::Written),
    size_key("vocab_size", &ModelConfig::vocabulary),
    {"num_mel_bins", Part::Sound},
    {"activation_function", &ModelConfig::activation},
    {"scale_embedding", Part::ScaledEmbedding},
    deviation_key("init_std"),
    share_key("dropout", &ModelConfig::residual_dropout),
    share_key("attention_dropout", &ModelConfig::attention_dropout),
    share_key("activation_dropout", &ModelConfig::ffn_dropout),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};
constexpr Switch kT5Switches[] = {{"is_decoder", "false", "a decoder alone"}};
constexpr Switch kLongT5Switches[] = {
    {"is_decoder", "false", "a decoder alone"},
    {"encoder_attention_type", "\"local\"", "an encoder that sums up pieces of the source beside its windows"}};
constexpr Switch kMvpSwitches[] = {{"is_decoder", "false", "a decoder alone"}, {"use_prompt", "false", "prompts that are trained"}};
constexpr Switch kMarianSwitches[] = {{"is_decoder", "false", "a decoder alone"},
                                      {"share_encoder_decoder_embeddings", "true", "a token table of the decoder's own"}};

// What the head reads of a tied table is divided by the root of its width.
void describe_tied_head(ModelConfig& config) { config.logit_factor = 2; }  // any but 1
// Scores are not divided; a bias by distance is in their place of positions.
void describe_t5(ModelConfig& config) {
  config.norm = Norm::RmsNorm;
  config.position = Position::None;
  config.activation = Activation::Relu;
  config.norm_epsilon = 1e-6;
  config.score_scale = 1;
  config.tied_embeddings = true;
  config.residual_dropout = 0.1;
  describe_tied_head(config);
  config.encoder = EncoderForm{.final_norm = true};
}
void describe_mt5(ModelConfig& config) {
  describe_t5(config);
  config.logit_factor = 1;
  config.activation = Activation::GeluTanh;
  config.gated_mlp = true;
}
void one_dropout(ModelConfig& config) {
  config.embedding_dropout = config.attention_dropout = config.ffn_dropout = config.residual_dropout;
}

void describe_bart(ModelConfig& config) {
  config.attention_bias = config.projection_bias = config.mlp_bias = true;
  config.activation = Activation::Gelu;
  config.norm_place = NormPlace::AfterSum;
  config.embedding_norm = config.tied_embeddings = true;
  config.final_norm = false;
  config.position_offset = 2;
  config.residual_dropout = 0.1;
  config.encoder = EncoderForm{};
}
void describe_plbart(ModelConfig& config) {
  describe_bart(config);
  config.attention_dropout = 0.1;
  config.embedding_factor = 2;  // any but 1: by the root of the width
}
void describe_small_blenderbot(ModelConfig& config) {
  describe_bart(config);
  config.position_offset = 0;
  config.encoder->late_positions = true;
}
void describe_mbart(ModelConfig& config) {
  describe_bart(config);
  config.norm_place = NormPlace::Before;
  config.final_norm = true;
  config.encoder = EncoderForm{.final_norm = true};
}
void describe_blenderbot(ModelConfig& config) {
  describe_mbart(config);
  config.embedding_norm = false;
  config.position_offset = 0;
}
void with_sines(ModelConfig& config) {
  config.position = Position::None;
  config.position_offset = 0;
  config.embedding_norm = false;
  config.encoder->sines = Sines::Vaswani;
}
void describe_marian(ModelConfig& config) {
  describe_bart(config);
  with_sines(config);
}
void describe_pegasus(ModelConfig& config) {
  describe_mbart(config);
  with_sines(config);
}
void describe_m2m(ModelConfig& config) {
  describe_pegasus(config);
  config.encoder->sines = Sines::ToTheLongest;
  config.position_offset = 2;  // of a padding token, and what is in front of it
  config.activation = Activation::Relu;
  config.attention_dropout = 0.1;
  config.embedding_factor = 2;  // any but 1: by the root of the width
}
void describe_whisper(ModelConfig& config) {
  describe_mbart(config);
  config.embedding_norm = config.key_bias = false;
  config.position_offset = 0;
  config.max_positions = 448;
  config.residual_dropout = 0;
  config.encoder->frame_width = 80;
  config.encoder->frames = 1500;
}
void complete_bart(ModelConfig& config) { config.embedding_dropout = config.residual_dropout; }

constexpr Family kPairedFamilies[] = {
    {.name = "t5", .keys = kT5, .describe = describe_t5, .switches = kT5Switches, .complete = one_dropout},
    {.name = "mt5", .keys = kT5, .describe = describe_mt5, .switches = kT5Switches, .complete = one_dropout},
    {.name = "umt5",
     .keys = kT5,
     .describe =
         [](ModelConfig& config) {
           describe_mt5(config);
           describe_tied_head(config);
           config.encoder->distances_of_each = true;
         },
     .switches = kT5Switches,
     .complete = one_dropout},
    // Blocks of the encoder see so far to both sides (Guo et al. 2022).
    {.name = "longt5",
     .keys = kT5,
     .more = kLongT5,
     .describe =
         [](ModelConfig& config) {
           describe_t5(config);
           config.window = 255;
         },
     .switches = kLongT5Switches,
     .complete = one_dropout},
    {.name = "bart", .keys = kBart, .describe = describe_bart, .switches = kT5Switches, .complete = complete_bart},
    {.name = "plbart", .keys = kBart, .describe = describe_plbart, .switches = kT5Switches, .complete = complete_bart},
    {.name = "mvp", .keys = kBart, .describe = describe_bart, .switches = kMvpSwitches, .complete = complete_bart},
    {.name = "blenderbot-small", .keys = kBart, .describe = describe_small_blenderbot, .switches = kT5Switches, .complete = complete_bart},
    {.name = "mbart", .keys = kBart, .describe = describe_mbart, .switches = kT5Switches, .complete = complete_bart},
    {.name = "blenderbot", .keys = kBart, .describe = describe_blenderbot, .switches = kT5Switches, .complete = complete_bart},
    {.name = "marian", .keys = kBart, .describe = describe_marian, .switches = kMarianSwitches, .complete = complete_bart},
    {.name = "pegasus", .keys = kBart, .describe = describe_pegasus, .switches = kT5Switches, .complete = complete_bart},
    {.name = "whisper", .keys = kWhisper, .describe = describe_whisper, .complete = complete_bart},
    {.name = "m2m_100", .keys = kBart, .describe = describe_m2m, .switches = kT5Switches, .complete = complete_bart},
};

}  // namespace

std::span<const Family> paired_families() { return kPairedFamilies; }

}  // namespace sim
