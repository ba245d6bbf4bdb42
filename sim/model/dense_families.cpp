// Dense decoders of Llama's kind that differ in a word or two; each row as its class in Transformers has it.
#include <cmath>

#include "sim/model/block_parts_json.h"
#include "sim/model/family.h"

namespace sim {
namespace {

constexpr Key kDenseBiases[] = {flag_key("attention_bias", &ModelConfig::attention_bias), flag_key("mlp_bias", &ModelConfig::mlp_bias)};
constexpr Key kDenseBias[] = {flag_key("attention_bias", &ModelConfig::attention_bias)};
constexpr Key kDenseOneBias[] = {flag_key("use_bias", &ModelConfig::attention_bias)};
constexpr Key kDenseWindows[] = {{"sliding_window", Part::Windows}};
constexpr Key kDenseBiasAndWindows[] = {flag_key("attention_bias", &ModelConfig::attention_bias), {"sliding_window", Part::Windows}};
constexpr Key kDenseMlpBiasAndWindows[] = {flag_key("mlp_bias", &ModelConfig::mlp_bias), {"sliding_window", Part::Windows}};
constexpr Key kDenseSeedOss[] = {
    flag_key("attention_bias", &ModelConfig::attention_bias), flag_key("attention_out_bias", &ModelConfig::projection_bias),
    flag_key("mlp_bias", &ModelConfig::mlp_bias), share_key("residual_dropout", &ModelConfig::residual_dropout)};
constexpr Key kDenseSmollm3[] = {flag_key("attention_bias", &ModelConfig::attention_bias),
                                 flag_key("mlp_bias", &ModelConfig::mlp_bias),
                                 {"sliding_window", Part::Windows},
                                 {"no_rope_layers", Part::Unturned}};
constexpr Key kDenseNanochat[] = {flag_key("attention_bias", &ModelConfig::attention_bias),
                                  {"final_logit_softcapping", &ModelConfig::logit_cap, KeyUse::Written}};
constexpr Key kDenseLatent[] = {{"", Part::Latent}};
constexpr Key kDenseFactors[] = {
    flag_key("attention_bias", &ModelConfig::attention_bias), flag_key("mlp_bias", &ModelConfig::mlp_bias), {"", Part::GraniteFactors}};
constexpr Key kDenseFactorsAndWindows[] = {flag_key("attention_bias", &ModelConfig::attention_bias),
                                           flag_key("mlp_bias", &ModelConfig::mlp_bias),
                                           {"", Part::GraniteFactors},
                                           {"sliding_window", Part::Windows}};
constexpr Key kDenseMiniCpm[] = {{"", Part::DepthFactors}};
constexpr Key kDenseMiniCpm3[] = {{"", Part::Latent}, {"", Part::DepthFactors}};
constexpr Switch kDenseOlmoSwitches[] = {{"clip_qkv", "null", "clamping queries, keys and values"}};
constexpr Switch kDenseAround[] = {{"use_post_norm", "true", "norms in front alone"}};

void no_gate(ModelConfig& config) {
  config.gated_mlp = false;
  config.activation = Activation::SquaredRelu;
}
void describe_ernie(ModelConfig& config) {
  describe_llama(config);
  config.norm_epsilon = 1e-5;
  config.head_dim = 128;
  config.max_positions = 131072;
  config.rope_theta = 500000;
  config.tied_embeddings = true;
}
void describe_glm_of_images(ModelConfig& config) {
  describe_llama(config);
  config.norm_epsilon = 1e-5;
  config.max_positions = 32768;
  config.norm_place = NormPlace::Around;
  config.rotary_share = 0.5;
}
// Blocks with windows have the plain base, the others a method of stretching it.
void complete_olmo3(ModelConfig& config) {
  config.projection_bias = config.attention_bias;
  if (config.local_rope_theta == 0 && config.rope_scaling.kind != RopeScalingKind::None && config.window > 0)
    config.local_rope_theta = config.rope_theta;
  if (config.local_rope_theta == config.rope_theta && config.rope_scaling.kind == RopeScalingKind::None) config.local_rope_theta = 0;
}

// Its positions reach further than those that it was first trained with.
void describe_apertus(ModelConfig& config) {
  describe_llama(config);
  config.gated_mlp = false;
  config.activation = Activation::Xielu;
  config.norm_epsilon = 1e-5;
  config.max_positions = 65536;
  config.rope_theta = 12'000'000;
  config.rope_scaling = {.kind = RopeScalingKind::Llama3, .factor = 8, .original_positions = 8192};
  config.qk_norm = QkNorm::Heads;
}
void describe_bitnet(ModelConfig& config) {
  describe_llama(config);
  config.activation = Activation::SquaredRelu;
  config.norm_epsilon = 1e-5;
  config.rope_theta = 500'000;
  config.inner_norms = true;
}

constexpr Switch kApertusSwitches[] = {{"qk_norm", "true", "queries and keys without norms"},
                                       {"post_norm", "false", "norms behind attention and the feed-forward"}};

const Family kDenseFamilies[] = {
    {.name = "apertus",
     .keys = llama_keys(),
     .more = kDenseBias,
     .describe = describe_apertus,
     .switches = kApertusSwitches,
     .complete = projection_follows},
    {.name = "bitnet", .keys = llama_keys(), .more = kDenseBias, .describe = describe_bitnet, .complete = projection_follows},
    {.name = "arcee",
     .keys = llama_keys(),
     .more = kDenseBiases,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           no_gate(config);
           config.norm_epsilon = 1e-5;
           config.max_positions = 4096;
         },
     .complete = projection_follows},
    {.name = "ernie4_5", .keys = llama_keys(), .more = kDenseOneBias, .describe = describe_ernie, .complete = biases_follow},
    {.name = "exaone4",
     .keys = llama_keys(),
     .more = kDenseWindows,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.qk_norm = QkNorm::Heads;
           config.norm_place = NormPlace::Behind;
           config.window = 4096;
         },
     .windows = WindowPattern::AllButEveryFourth,
     .complete = turn_under_windows},
    {.name = "smollm3",
     .keys = llama_keys(),
     .more = kDenseSmollm3,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.max_positions = 32768;
           config.rope_theta = 2000000;
           config.tied_embeddings = true;
         },
     .windows = WindowPattern::Switched,
     .complete = projection_follows},
    {.name = "seed_oss",
     .keys = llama_keys(),
     .more = kDenseSeedOss,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.head_dim = 128;
           config.max_positions = 524288;
           config.attention_bias = true;
           config.attention_dropout = config.residual_dropout = 0.1;
         }},
    {.name = "olmo",
     .keys = llama_keys(),
     .more = kDenseBias,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm = Norm::LayerNorm;
           config.norm_weight = false;
           config.norm_epsilon = 1e-5;
         },
     .switches = kDenseOlmoSwitches,
     .complete = projection_follows},
    {.name = "olmo3",
     .keys = llama_keys(),
     .more = kDenseBiasAndWindows,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.rope_theta = 500000;
           config.qk_norm = QkNorm::Joint;
           config.norm_place = NormPlace::Behind;
           config.window = 4096;
         },
     .windows = WindowPattern::AllButEveryFourth,
     .complete = complete_olmo3},
    {.name = "helium",
     .keys = llama_keys(),
     .more = kDenseBiases,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-8;
           config.head_dim = 128;
           config.max_positions = 4096;
           config.rope_theta = 100000;
         }},
    {.name = "ministral", .keys = llama_keys(), .more = kDenseWindows, .describe = describe_llama, .windows = WindowPattern::AllAtFirst},
    {.name = "ministral3",
     .keys = llama_keys(),
     .more = kDenseWindows,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.head_dim = 128;
           config.max_positions = 262144;
         },
     .windows = WindowPattern::AllAtFirst},
    {.name = "cwm",
     .keys = llama_keys(),
     .more = kDenseMlpBiasAndWindows,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.head_dim = 128;
           config.max_positions = 131072;
           config.rope_theta = 1e6;
           config.window = 8192;
         },
     .windows = WindowPattern::FirstOfFourFull},
    {.name = "glm",
     .keys = llama_keys(),
     .more = kDenseBias,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1.5625e-7;
           config.head_dim = 128;
           config.max_positions = 131072;
           config.attention_bias = true;
           config.rotary_share = 0.5;
         }},
    {.name = "internlm3",
     .keys = llama_keys(),
     .more = kDenseBiases,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.max_positions = 32768;
         },
     .complete = projection_follows},
    {.name = "iquestcoder",
     .keys = llama_keys(),
     .more = kDenseBiases,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.head_dim = 128;
           config.max_positions = 131072;
         },
     .complete = projection_follows},
    {.name = "vaultgemma",
     .keys = gemma_keys(),
     .more = gemma_caps(),
     .describe =
         [](ModelConfig& config) {
           describe_gemma2(config);
           config.norm_place = NormPlace::Before;
         },
     .windows = WindowPattern::Odd,
     .switches = gemma_switches(),
     .complete = complete_gemma},
    {.name = "nanochat",
     .keys = llama_keys(),
     .more = kDenseNanochat,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           no_gate(config);
           config.norm_weight = false;
           config.embedding_norm = true;
           config.qk_norm = QkNorm::Plain;
           config.logit_cap = 15;
         },
     .complete = projection_follows},
    {.name = "hunyuan_v1_dense",
     .keys = llama_keys(),
     .more = kDenseBias,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.qk_norm = QkNorm::Turned;
         },
     .complete = projection_follows},
    {.name = "emu3_text_model",
     .keys = llama_keys(),
     .more = kDenseBiases,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.max_positions = 9216;
           config.rope_theta = 1e6;
           config.attention_dropout = 0.1;
         },
     .complete = projection_follows},
    {.name = "youtu", .keys = llama_keys(), .more = kDenseLatent, .describe = describe_llama, .switches = latent_switches()},
    {.name = "hyperclovax",
     .keys = llama_keys(),
     .more = kDenseFactors,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_place = NormPlace::Around;
         },
     .switches = kDenseAround,
     .complete = projection_follows},
    {.name = "granite_swa",
     .keys = llama_keys(),
     .more = kDenseFactorsAndWindows,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.tied_embeddings = config.sinks = true;
           config.window = 128;
         },
     .windows = WindowPattern::FirstOfFourFull,
     .complete = projection_follows},
    {.name = "minicpm", .keys = llama_keys(), .more = kDenseMiniCpm, .describe = describe_llama},
    {.name = "minicpm3", .keys = llama_keys(), .more = kDenseMiniCpm3, .describe = describe_llama},
    {.name = "eurobert",
     .keys = llama_keys(),
     .more = kDenseBiases,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.max_positions = 8192;
           config.bidirectional = true;
         },
     .complete = projection_follows},
    // Of what sees images beside text: the text.
    {.name = "qwen2_vl_text",
     .keys = llama_keys(),
     .more = kDenseWindows,
     .describe = describe_qwen2,
     .windows = WindowPattern::SwitchedLate},
    {.name = "qwen2_5_omni_text",
     .keys = llama_keys(),
     .more = kDenseWindows,
     .describe = describe_qwen2,
     .windows = WindowPattern::SwitchedLate},
    {.name = "qwen2_5_vl_text",
     .keys = llama_keys(),
     .more = kDenseWindows,
     .describe = describe_qwen2,
     .windows = WindowPattern::SwitchedLate},
    {.name = "qwen3_vl_text", .keys = llama_keys(), .more = kDenseBias, .describe = describe_qwen3, .complete = projection_follows},
    {.name = "glm4v_text",
     .keys = llama_keys(),
     .more = kDenseBias,
     .describe =
         [](ModelConfig& config) {
           describe_glm_of_images(config);
           config.attention_bias = true;
         }},
    {.name = "glm_ocr_text", .keys = llama_keys(), .describe = describe_glm_of_images},
    {.name = "hunyuan_vl_text",
     .keys = llama_keys(),
     .more = kDenseBias,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.tied_embeddings = true;
           config.qk_norm = QkNorm::Turned;
         },
     .complete = projection_follows},
    {.name = "paddleocr_vl_text", .keys = llama_keys(), .more = kDenseOneBias, .describe = describe_ernie, .complete = biases_follow},
    {.name = "granite_docling_text",
     .keys = llama_keys(),
     .more = kDenseFactors,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.max_positions = 32768;
           config.tied_embeddings = true;
         },
     .complete = projection_follows},
};

}  // namespace

void windows_turn(ModelConfig& config) {
  projection_follows(config);
  turn_under_windows(config);
}

std::span<const Family> dense_families() { return kDenseFamilies; }

}  // namespace sim
