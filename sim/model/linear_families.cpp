#include <algorithm>

#include "sim/model/family.h"

namespace sim {
namespace {

constexpr Key kQwen3Next[] = {
    flag_key("attention_bias", &ModelConfig::attention_bias, KeyUse::WhenOther), {"", Part::Linear}, {"", Part::Experts}};
constexpr Key kOlmoHybrid[] = {
    flag_key("attention_bias", &ModelConfig::attention_bias), {"rope_parameters", Part::SaidPositions}, {"", Part::Linear}};
constexpr Key kBamba[] = {
    flag_key("attention_bias", &ModelConfig::attention_bias), flag_key("mlp_bias", &ModelConfig::mlp_bias), {"", Part::Linear}};
constexpr Key kGranite[] = {
    flag_key("attention_bias", &ModelConfig::attention_bias), flag_key("mlp_bias", &ModelConfig::mlp_bias), {"", Part::GraniteFactors}};
constexpr Key kGraniteExperts[] = {
    flag_key("attention_bias", &ModelConfig::attention_bias), {"", Part::GraniteFactors}, {"", Part::Experts}};
constexpr Key kGraniteHybrid[] = {
    flag_key("attention_bias", &ModelConfig::attention_bias), {"", Part::GraniteFactors}, {"", Part::Linear}, {"", Part::Experts}};
// Of experts alone, without a dense width.
constexpr Key kRouted[] = {
    size_key("num_hidden_layers", &ModelConfig::layers),
    size_key("hidden_size", &ModelConfig::hidden),
    size_key("num_attention_heads", &ModelConfig::heads),
    size_key("num_key_value_heads", &ModelConfig::kv_heads, KeyUse::Written),
    size_key("head_dim", &ModelConfig::head_dim, KeyUse::Written),
    size_key("max_position_embeddings", &ModelConfig::max_positions, KeyUse::Written),
    size_key("vocab_size", &ModelConfig::vocabulary),
    {"hidden_act", &ModelConfig::activation},
    positive_key("rms_norm_eps", &ModelConfig::norm_epsilon),
    {"partial_rotary_factor", &ModelConfig::rotary_share, KeyUse::WhenOther, {}, 0.01, 1},
    {"rope_theta", Part::Rotary},
    deviation_key("initializer_range"),
    share_key("attention_dropout", &ModelConfig::attention_dropout),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
};
constexpr Key kQwen35[] = {flag_key("attention_bias", &ModelConfig::attention_bias, KeyUse::WhenOther), {"", Part::Linear}};
constexpr Key kNemotron[] = {
    size_key("num_hidden_layers", &ModelConfig::layers, KeyUse::Written),
    size_key("hidden_size", &ModelConfig::hidden),
    size_key("num_attention_heads", &ModelConfig::heads),
    size_key("num_key_value_heads", &ModelConfig::kv_heads, KeyUse::Written),
    size_key("head_dim", &ModelConfig::head_dim, KeyUse::Written, "attention_head_dim"),
    size_key("intermediate_size", &ModelConfig::ffn),
    size_key("max_position_embeddings", &ModelConfig::max_positions, KeyUse::Written),
    size_key("vocab_size", &ModelConfig::vocabulary),
    {"mlp_hidden_act", &ModelConfig::activation},
    positive_key("layer_norm_epsilon", &ModelConfig::norm_epsilon),
    deviation_key("initializer_range"),
    share_key("attention_dropout", &ModelConfig::attention_dropout),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
    flag_key("mlp_bias", &ModelConfig::mlp_bias),
    {"", Part::Linear},
    {"", Part::Experts},
};
constexpr Key kMamba2[] = {
    size_key("num_hidden_layers", &ModelConfig::layers),
    size_key("hidden_size", &ModelConfig::hidden),
    size_key("num_heads", &ModelConfig::heads),
    size_key("head_dim", &ModelConfig::head_dim),
    size_key("vocab_size", &ModelConfig::vocabulary),
    {"hidden_act", &ModelConfig::activation},
    positive_key("layer_norm_epsilon", &ModelConfig::norm_epsilon),
    deviation_key("initializer_range"),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
    {"", Part::Linear},
};
constexpr Key kSelective[] = {
    size_key("num_hidden_layers", &ModelConfig::layers, KeyUse::Needed, "n_layer"),
    size_key("hidden_size", &ModelConfig::hidden, KeyUse::Needed, "d_model"),
    size_key("vocab_size", &ModelConfig::vocabulary),
    {"hidden_act", &ModelConfig::activation},
    positive_key("layer_norm_epsilon", &ModelConfig::norm_epsilon),
    deviation_key("initializer_range"),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
    {"", Part::Linear},
};
constexpr Key kJamba[] = {
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
    deviation_key("initializer_range"),
    share_key("attention_dropout", &ModelConfig::attention_dropout),
    flag_key("tie_word_embeddings", &ModelConfig::tied_embeddings),
    {"", Part::Linear},
    {"", Part::Experts},
};
constexpr Key kFalconH1[] = {flag_key("attention_bias", &ModelConfig::attention_bias),
                             flag_key("mlp_bias", &ModelConfig::mlp_bias),
                             positive_key("embedding_multiplier", &ModelConfig::embedding_factor),
                             positive_key("lm_head_multiplier", &ModelConfig::logit_factor),
                             {"mamba_rms_norm", Part::GateNorm},
                             {"", Part::Linear}};
constexpr Key kConvolved[] = {
    size_key("num_hidden_layers", &ModelConfig::layers),
    size_key("hidden_size", &ModelConfig::hidden),
    size_key("num_attention_heads", &ModelConfig::heads, KeyUse::Needed, "num_heads"),
    size_key("num_key_value_heads", &ModelConfig::kv_heads, KeyUse::Written),
    size_key("max_position_embeddings", &ModelConfig::max_positions, KeyUse::Written),
    size_key("vocab_size", &ModelConfig::vocabulary),
    positive_key("norm_eps", &ModelConfig::norm_epsilon),
    {"rope_theta", Part::Rotary},
    deviation_key("initializer_range"),
    {"tie_word_embeddings", &ModelConfig::tied_embeddings, KeyUse::Written, "tie_embedding"},
    {"", Part::Linear},
};
constexpr Key kLfm2[] = {{"intermediate_size", Part::AdjustedWidth}};
constexpr Key kLfm2Experts[] = {
    size_key("intermediate_size", &ModelConfig::ffn), {"", Part::Experts}, {"use_expert_bias", Part::CorrectedScores}};
constexpr Key kLlama4[] = {flag_key("attention_bias", &ModelConfig::attention_bias), {"", Part::Llama4}};
constexpr Key kKimiLinear[] = {{"", Part::Latent}, {"", Part::Linear}, {"", Part::Experts}};
constexpr Switch kKimiSwitches[] = {{"mla_use_nope", "true", "latent attention with positions"}};
constexpr Switch kNemotronSwitches[] = {{"moe_latent_size", "null", "experts of a width of their own"}};
constexpr Switch kFalconH1Switches[] = {{"projectors_bias", "false", "a bias behind the scans, and none in front of them"}};
constexpr Switch kBambaSwitches[] = {{"num_experts", "1", "experts beside state spaces"}};

LinearForm mamba(std::int64_t groups, std::int64_t state, std::int64_t chunk) {
  return {.rule = LinearRule::StateSpace, .heads = 128, .groups = groups, .key = state, .chunk = chunk, .convolution_bias = true};
}

void describe_selective(ModelConfig& config) {
  config.norm = Norm::RmsNorm;
  config.position = Position::None;
  config.activation = Activation::Silu;
  config.initializer_range = 0.1;
  config.tied_embeddings = true;
  config.linear = LinearForm{.rule = LinearRule::Selective, .key = 16, .convolution_bias = true};
}
// No attention; its sizes, of which nothing is made, are those of the channels.
void complete_selective(ModelConfig& config) {
  config.ffn = config.max_positions = 0;
  config.heads = config.kv_heads = config.linear->heads;
  config.head_dim = 1;
}

void describe_convolved(ModelConfig& config) {
  describe_llama(config);
  config.norm_epsilon = 1e-5;
  config.max_positions = 128000;
  config.rope_theta = 1e6;
  config.qk_norm = QkNorm::Heads;
  config.tied_embeddings = true;
  config.linear = LinearForm{.rule = LinearRule::ShortConvolution, .key = 1, .convolution = 3};
}

void describe_granite(ModelConfig& config) {
  describe_llama(config);
  config.norm_epsilon = 1e-6;
}

// Weights of norms count from 1, a gate behind attention, a quarter of a head turns.
void describe_qwen3_next(ModelConfig& config) {
  describe_llama(config);
  config.max_positions = 32768;
  config.head_dim = 256;
  config.rotary_share = 0.25;
  config.qk_norm = QkNorm::Heads;
  config.offset_norm = config.attention_gate = true;
  config.linear = LinearForm{.rule = LinearRule::GatedDelta, .heads = 32, .groups = 16, .key = 128, .value = 128};
}
void describe_qwen3_next_experts(ModelConfig& config) {
  describe_qwen3_next(config);
  ExpertForm& form = config.experts.emplace();
  form.renormalised = form.shared_gate = true;
}

// Without experts the shared one is the feed-forward; without "rope" nothing tells positions but the order of the scans.
void complete_granite_hybrid(ModelConfig& config) {
  projection_follows(config);
  if (std::ranges::count(config.linear_layers, true) == 0) config.linear_layers.clear(), config.linear.reset();
}

const Family kLinearFamilies[] = {
    {.name = "qwen3_next",
     .keys = llama_keys(),
     .more = kQwen3Next,
     .describe = describe_qwen3_next_experts,
     .complete = projection_follows},
    {.name = "qwen3_5_text", .keys = llama_keys(), .more = kQwen35, .describe = describe_qwen3_next, .complete = projection_follows},
    {.name = "qwen3_5_moe_text",
     .keys = kRouted,
     .more = kQwen3Next,
     .describe = describe_qwen3_next_experts,
     .complete = projection_follows},
    // Norms in front of the scans, behind attention; a file without a base of positions has none.
    {.name = "olmo_hybrid",
     .keys = llama_keys(),
     .more = kOlmoHybrid,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.max_positions = 65536;
           config.qk_norm = QkNorm::Joint;
           config.norm_place = NormPlace::Behind;
           config.linear = LinearForm{.rule = LinearRule::GatedDelta, .norms_before = true};
         },
     .complete = projection_follows},
    {.name = "kimi_linear",
     .keys = llama_keys(),
     .more = kKimiLinear,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.max_positions = 1048576;
           config.position = Position::None;
           config.linear = LinearForm{.rule = LinearRule::ChannelDelta, .heads = 32, .groups = 32, .key = 128, .value = 128};
           ExpertForm& form = config.experts.emplace();
           form.score = RouterScore::Sigmoid;
           form.renormalised = form.score_correction = true;
           form.scaling = 2.446;
         },
     .switches = kKimiSwitches},
    {.name = "bamba",
     .keys = llama_keys(),
     .more = kBamba,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.max_positions = 262144;
           config.rotary_share = 0.5;
           config.linear = mamba(1, 256, 256);
         },
     .switches = kBambaSwitches,
     .complete = projection_follows},
    {.name = "nemotron_h",
     .keys = kNemotron,
     .describe =
         [](ModelConfig& config) {
           config.norm = Norm::RmsNorm;
           config.position = Position::None;
           config.activation = Activation::SquaredRelu;
           config.max_positions = 4096;
           config.linear = mamba(8, 128, 128);
           config.linear->value = 64;
           ExpertForm& form = config.experts.emplace();
           form.score = RouterScore::Sigmoid;
           form.renormalised = form.score_correction = true;
         },
     .switches = kNemotronSwitches},
    {.name = "mamba2",
     .keys = kMamba2,
     .describe =
         [](ModelConfig& config) {
           config.norm = Norm::RmsNorm;
           config.position = Position::None;
           config.activation = Activation::Silu;
           config.initializer_range = 0.1;
           config.linear = mamba(8, 128, 256);
           config.linear->value = 64;
         },
     .complete = [](ModelConfig& config) { config.ffn = config.max_positions = 0; }},
    {.name = "mamba", .keys = kSelective, .describe = describe_selective, .complete = complete_selective},
    {.name = "falcon_mamba",
     .keys = kSelective,
     .describe =
         [](ModelConfig& config) {
           describe_selective(config);
           config.linear->scan_norms = ScanNorms::Plain;
         },
     .complete = complete_selective},
    {.name = "jamba",
     .keys = kJamba,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.position = Position::None;
           config.max_positions = 262144;
           config.linear =
               LinearForm{.rule = LinearRule::Selective, .key = 16, .scan_norms = ScanNorms::Weighted, .convolution_bias = true};
           config.experts.emplace().every = 2;
         }},
    {.name = "falcon_h1",
     .keys = llama_keys(),
     .more = kFalconH1,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.max_positions = 8192;
           config.linear = mamba(1, 256, 256);
           config.linear->beside = true;
           config.linear->gate_norm = false;
         },
     .switches = kFalconH1Switches,
     .complete = projection_follows},
    {.name = "lfm2", .keys = kConvolved, .more = kLfm2, .describe = describe_convolved},
    {.name = "lfm2_moe",
     .keys = kConvolved,
     .more = kLfm2Experts,
     .describe =
         [](ModelConfig& config) {
           describe_convolved(config);
           ExpertForm& form = config.experts.emplace();
           form.score = RouterScore::Sigmoid;
           form.renormalised = form.score_correction = true;
           form.first_dense_layers = 2;
         }},
    {.name = "granite", .keys = llama_keys(), .more = kGranite, .describe = describe_granite, .complete = projection_follows},
    {.name = "granitemoe",
     .keys = llama_keys(),
     .more = kGraniteExperts,
     .describe =
         [](ModelConfig& config) {
           describe_granite(config);
           config.experts.emplace().renormalised = true;
         },
     .complete = projection_follows},
    {.name = "granitemoehybrid",
     .keys = llama_keys(),
     .more = kGraniteHybrid,
     .describe =
         [](ModelConfig& config) {
           describe_granite(config);
           config.linear = mamba(1, 256, 256);
           config.experts.emplace().renormalised = true;
         },
     .complete = complete_granite_hybrid},
    {.name = "llama4_text",
     .keys = llama_keys(),
     .more = kLlama4,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.head_dim = 128;
           config.max_positions = 131072;
           config.rope_theta = 500000;
           ExpertForm& form = config.experts.emplace();
           form.score = RouterScore::Sigmoid;
           form.scores_inputs = true;
         },
     .complete = projection_follows},
};

}  // namespace

std::span<const Key> routed_keys() { return kRouted; }

std::span<const Family> linear_families() { return kLinearFamilies; }

}  // namespace sim
