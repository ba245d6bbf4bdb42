#include "sim/model/family.h"

namespace sim {
namespace {

constexpr Key kBert[] = {
    size_key("num_hidden_layers", &ModelConfig::layers),
    size_key("hidden_size", &ModelConfig::hidden),
    size_key("num_attention_heads", &ModelConfig::heads),
    size_key("intermediate_size", &ModelConfig::ffn),
    {"max_position_embeddings", Part::PositionRows},
    {"type_vocab_size", &ModelConfig::token_types, KeyUse::Written, {}, 0, 1e6},
    size_key("vocab_size", &ModelConfig::vocabulary),
    {"hidden_act", &ModelConfig::activation},
    positive_key("layer_norm_eps", &ModelConfig::norm_epsilon),
    deviation_key("initializer_range"),
    share_key("hidden_dropout_prob", &ModelConfig::residual_dropout),
    share_key("attention_probs_dropout_prob", &ModelConfig::attention_dropout),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};
constexpr Switch kEncoder[] = {{"is_decoder", "false", "a decoder"},
                               {"add_cross_attention", "false", "cross-attention"},
                               {"position_embedding_type", "\"absolute\"", "positions relative to each other"}};

// With the head of masked language modelling: a product and a norm in front of the tied projection, which has a bias. No pooler.
void describe_bert(ModelConfig& config) {
  config.attention_bias = config.projection_bias = config.mlp_bias = true;
  config.activation = Activation::Gelu;
  config.norm_epsilon = 1e-12;
  config.norm_place = NormPlace::AfterSum;
  config.bidirectional = config.embedding_norm = config.head_transform = config.head_bias = config.tied_embeddings = true;
  config.final_norm = false;
  config.token_types = 2;
  config.residual_dropout = config.attention_dropout = 0.1;
}
void complete_bert(ModelConfig& config) { config.embedding_dropout = config.residual_dropout; }

constexpr Key kDistilBert[] = {
    size_key("n_layers", &ModelConfig::layers, KeyUse::Needed, "num_hidden_layers"),
    size_key("dim", &ModelConfig::hidden, KeyUse::Needed, "hidden_size"),
    size_key("n_heads", &ModelConfig::heads, KeyUse::Needed, "num_attention_heads"),
    size_key("hidden_dim", &ModelConfig::ffn),
    {"max_position_embeddings", Part::PositionRows},
    size_key("vocab_size", &ModelConfig::vocabulary),
    {"activation", &ModelConfig::activation},
    deviation_key("initializer_range"),
    share_key("dropout", &ModelConfig::residual_dropout),
    share_key("attention_dropout", &ModelConfig::attention_dropout),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};
constexpr Switch kErnieSwitches[] = {
    {"is_decoder", "false", "a decoder"}, {"add_cross_attention", "false", "cross-attention"}, {"use_task_id", "false", "types of tasks"}};
constexpr Switch kTrainedPositions[] = {{"sinusoidal_pos_embds", "false", "positions that are a table of sines"}};

// Positions are counted behind that of padding.
void describe_roberta(ModelConfig& config) {
  describe_bert(config);
  config.position_offset = 2;
}
void describe_norms_before(ModelConfig& config) {
  describe_bert(config);
  config.norm_place = NormPlace::Before;
  config.embedding_norm = false;
  config.final_norm = true;
}

constexpr Key kNomic[] = {
    size_key("num_hidden_layers", &ModelConfig::layers, KeyUse::Needed, "n_layer"),
    size_key("hidden_size", &ModelConfig::hidden, KeyUse::Needed, "n_embd"),
    size_key("num_attention_heads", &ModelConfig::heads, KeyUse::Needed, "n_head"),
    size_key("head_dim", &ModelConfig::head_dim, KeyUse::Written),
    size_key("intermediate_size", &ModelConfig::ffn, KeyUse::Needed, "n_inner"),
    size_key("max_position_embeddings", &ModelConfig::max_positions, KeyUse::Written, "n_positions"),
    {"type_vocab_size", &ModelConfig::token_types, KeyUse::Written, {}, 0, 1e6},
    size_key("vocab_size", &ModelConfig::vocabulary),
    {"hidden_act", &ModelConfig::activation},
    {"layer_norm_eps", &ModelConfig::norm_epsilon, KeyUse::Written, "layer_norm_epsilon", 1e-30, 1e30},
    {"rope_theta", Part::Rotary},
    deviation_key("initializer_range"),
    share_key("hidden_dropout_prob", &ModelConfig::residual_dropout),
    share_key("attention_probs_dropout_prob", &ModelConfig::attention_dropout),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};
constexpr Key kElectra[] = {{"embedding_size", Part::TableWidth}};
constexpr Key kEsm[] = {
    size_key("num_hidden_layers", &ModelConfig::layers),
    size_key("hidden_size", &ModelConfig::hidden),
    size_key("num_attention_heads", &ModelConfig::heads),
    size_key("intermediate_size", &ModelConfig::ffn),
    size_key("vocab_size", &ModelConfig::vocabulary),
    {"position_embedding_type", Part::EsmPositions},
    positive_key("layer_norm_eps", &ModelConfig::norm_epsilon),
    deviation_key("initializer_range"),
    share_key("hidden_dropout_prob", &ModelConfig::residual_dropout),
    share_key("attention_probs_dropout_prob", &ModelConfig::attention_dropout),
    flag_key("emb_layer_norm_before", &ModelConfig::embedding_norm),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};
constexpr Key kModern[] = {
    size_key("num_hidden_layers", &ModelConfig::layers),
    size_key("hidden_size", &ModelConfig::hidden),
    size_key("num_attention_heads", &ModelConfig::heads),
    size_key("intermediate_size", &ModelConfig::ffn),
    size_key("max_position_embeddings", &ModelConfig::max_positions, KeyUse::Written),
    size_key("vocab_size", &ModelConfig::vocabulary),
    {"hidden_activation", &ModelConfig::activation},
    positive_key("norm_eps", &ModelConfig::norm_epsilon),
    {"rope_theta", Part::Rotary},
    {"local_attention", Part::BothWays},
    deviation_key("initializer_range"),
    share_key("embedding_dropout", &ModelConfig::embedding_dropout),
    share_key("attention_dropout", &ModelConfig::attention_dropout),
    share_key("mlp_dropout", &ModelConfig::ffn_dropout),
    flag_key("norm_bias", &ModelConfig::norm_bias),
    flag_key("attention_bias", &ModelConfig::attention_bias),
    flag_key("mlp_bias", &ModelConfig::mlp_bias),
    flag_key("classifier_bias", &ModelConfig::transform_bias),
    flag_key("decoder_bias", &ModelConfig::head_bias),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};
constexpr Key kVit[] = {
    size_key("num_hidden_layers", &ModelConfig::layers),
    size_key("hidden_size", &ModelConfig::hidden),
    size_key("num_attention_heads", &ModelConfig::heads),
    size_key("intermediate_size", &ModelConfig::ffn),
    {"patch_size", Part::Patches},
    {"hidden_act", &ModelConfig::activation},
    positive_key("layer_norm_eps", &ModelConfig::norm_epsilon),
    deviation_key("initializer_range"),
    share_key("hidden_dropout_prob", &ModelConfig::residual_dropout),
    share_key("attention_probs_dropout_prob", &ModelConfig::attention_dropout),
    flag_key("qkv_bias", &ModelConfig::attention_bias),
};

constexpr Key kDino[] = {
    size_key("num_hidden_layers", &ModelConfig::layers),
    size_key("hidden_size", &ModelConfig::hidden),
    size_key("num_attention_heads", &ModelConfig::heads),
    {"hidden_act", &ModelConfig::activation},
    {"mlp_ratio", Part::WidthRatio},
    {"patch_size", Part::Patches},
    positive_key("layer_norm_eps", &ModelConfig::norm_epsilon),
    deviation_key("initializer_range"),
    share_key("hidden_dropout_prob", &ModelConfig::residual_dropout),
    share_key("attention_probs_dropout_prob", &ModelConfig::attention_dropout),
    flag_key("qkv_bias", &ModelConfig::attention_bias),
};
constexpr Switch kNoFolding[] = {{"is_folding_model", "false", "a network that folds proteins"},
                                 {"is_decoder", "false", "a decoder"},
                                 {"add_cross_attention", "false", "cross-attention"}};
constexpr Switch kTurnedKeysAlone[] = {{"rotary_value", "false", "values that are turned"},
                                       {"is_decoder", "false", "a decoder"},
                                       {"add_cross_attention", "false", "cross-attention"}};

void describe_modern(ModelConfig& config) {
  config.position = Position::Rotary;
  config.max_positions = 8192;
  config.activation = Activation::Gelu;
  config.gated_mlp = config.bidirectional = config.embedding_norm = config.head_transform = true;
  config.head_bias = config.tied_embeddings = true;
  config.norm_bias = config.transform_bias = config.first_norm = false;
  config.window = 129;
  config.rope_theta = 160000;
  config.local_rope_theta = 10000;
}

// With the head of classification, which reads the first position.
void describe_vit(ModelConfig& config) {
  config.attention_bias = config.projection_bias = config.mlp_bias = true;
  config.activation = Activation::Gelu;
  config.norm_epsilon = 1e-12;
  config.bidirectional = config.head_bias = true;
}

void with_leading(ModelConfig& config, PatchForm form) {
  describe_vit(config);
  config.patches = form;
}
// What its head reads beside the class's token is the mean of the patches.
void describe_dino(ModelConfig& config, std::int64_t registers) {
  with_leading(config, {.patch = registers > 0 ? 16 : 14, .registers = registers, .reads_mean = true});
  config.norm_epsilon = 1e-6;
  config.layer_scale = true;
}

constexpr Family kEncoderFamilies[] = {
    {.name = "bert", .keys = kBert, .describe = describe_bert, .switches = kEncoder, .complete = complete_bert},
    {.name = "roberta", .keys = kBert, .describe = describe_roberta, .switches = kEncoder, .complete = complete_bert},
    {.name = "camembert", .keys = kBert, .describe = describe_roberta, .switches = kEncoder, .complete = complete_bert},
    {.name = "xlm-roberta", .keys = kBert, .describe = describe_roberta, .switches = kEncoder, .complete = complete_bert},
    {.name = "data2vec-text", .keys = kBert, .describe = describe_roberta, .switches = kEncoder, .complete = complete_bert},
    {.name = "ernie", .keys = kBert, .describe = describe_bert, .switches = kErnieSwitches, .complete = complete_bert},
    {.name = "megatron-bert", .keys = kBert, .describe = describe_norms_before, .switches = kEncoder, .complete = complete_bert},
    {.name = "roberta-prelayernorm",
     .keys = kBert,
     .describe =
         [](ModelConfig& config) {
           describe_norms_before(config);
           config.embedding_norm = true;
           config.position_offset = 2;
         },
     .switches = kEncoder,
     .complete = complete_bert},
    {.name = "xlm-roberta-xl",
     .keys = kBert,
     .describe =
         [](ModelConfig& config) {
           describe_norms_before(config);
           config.norm_epsilon = 1e-5;
           config.position_offset = 2;
           config.token_types = 1;
         },
     .switches = kEncoder,
     .complete = complete_bert},
    {.name = "distilbert",
     .keys = kDistilBert,
     .describe =
         [](ModelConfig& config) {
           describe_bert(config);
           config.token_types = 0;
         },
     .switches = kTrainedPositions,
     .complete = complete_bert},
    // One sentence, and a head without the product in front.
    {.name = "bert-generation",
     .keys = kBert,
     .describe =
         [](ModelConfig& config) {
           describe_bert(config);
           config.token_types = 0;
           config.head_transform = false;
         },
     .switches = kEncoder,
     .complete = complete_bert},
    // Norms as BERT's, what is between them as Llama's.
    {.name = "nomic_bert",
     .keys = kNomic,
     .describe =
         [](ModelConfig& config) {
           describe_bert(config);
           config.attention_bias = config.projection_bias = config.mlp_bias = false;
           config.position = Position::Rotary;
           config.rope_theta = 1000;
           config.max_positions = 2048;
           config.activation = Activation::Silu;
           config.gated_mlp = true;
           config.residual_dropout = config.attention_dropout = 0;
         },
     .complete = complete_bert},
    // Llama's blocks without the first norm; windows in two of three blocks (Warner et al. 2024).
    {.name = "modernbert", .keys = kModern, .describe = describe_modern, .complete = projection_follows},
    // The same as a decoder: half as far back (Weller et al. 2025).
    {.name = "modernbert-decoder",
     .keys = kModern,
     .describe =
         [](ModelConfig& config) {
           describe_modern(config);
           config.bidirectional = false;
           config.window = 64;
         },
     .complete = projection_follows},
    // As narrow as its token table up to the first block, and behind the head's product again (Clark et al. 2020).
    {.name = "electra",
     .keys = kBert,
     .more = kElectra,
     .describe =
         [](ModelConfig& config) {
           describe_bert(config);
           config.embedding_width = 128;
         },
     .switches = kEncoder,
     .complete = complete_bert},
    {.name = "roformer",
     .keys = kBert,
     .more = kElectra,
     .describe =
         [](ModelConfig& config) {
           describe_bert(config);
           config.position = Position::Rotary;
         },
     .switches = kTurnedKeysAlone,
     .complete = complete_bert},
    {.name = "gte",
     .keys = kNomic,
     .describe =
         [](ModelConfig& config) {
           describe_bert(config);
           config.position = Position::Rotary;
           config.rope_theta = 160000;
           config.max_positions = 8192;
           config.gated_mlp = true;
           config.up_bias = false;
           config.token_types = 1;
           config.attention_dropout = 0;
         },
     .complete =
         [](ModelConfig& config) {
           complete_bert(config);
           config.ffn_dropout = config.residual_dropout;
         }},
    // Proteins (Lin et al. 2023): norms in front.
    {.name = "esm",
     .keys = kEsm,
     .describe =
         [](ModelConfig& config) {
           describe_norms_before(config);
           config.token_types = 0;
         },
     .switches = kNoFolding,
     .complete = complete_bert},
    {.name = "vit", .keys = kVit, .describe = describe_vit, .complete = complete_bert},
    {.name = "vit_msn",
     .keys = kVit,
     .describe =
         [](ModelConfig& config) {
           with_leading(config, {});
           config.norm_epsilon = 1e-6;
         },
     .complete = complete_bert},
    {.name = "deit",
     .keys = kVit,
     .describe = [](ModelConfig& config) { with_leading(config, {.leading = 2}); },
     .complete = complete_bert},
    {.name = "ijepa",
     .keys = kVit,
     .describe = [](ModelConfig& config) { with_leading(config, {.leading = 0}); },
     .complete = complete_bert},
    {.name = "dinov2", .keys = kDino, .describe = [](ModelConfig& config) { describe_dino(config, 0); }, .complete = complete_bert},
    {.name = "dinov2_with_registers",
     .keys = kDino,
     .describe = [](ModelConfig& config) { describe_dino(config, 4); },
     .complete = complete_bert},
};

}  // namespace

std::span<const Family> encoder_families() { return kEncoderFamilies; }

}  // namespace sim
