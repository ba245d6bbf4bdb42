// Decoders with experts, beside those of expert_families.cpp; each row as its class in Transformers has it.
#include "sim/model/family.h"

namespace sim {
namespace {

constexpr Key kSparseBiasAndExperts[] = {flag_key("attention_bias", &ModelConfig::attention_bias, KeyUse::WhenOther), {"", Part::Experts}};
constexpr Key kSparseWindowsAndExperts[] = {
    flag_key("attention_bias", &ModelConfig::attention_bias, KeyUse::WhenOther), {"sliding_window", Part::Windows}, {"", Part::Experts}};
constexpr Key kSparseErnie[] = {flag_key("use_bias", &ModelConfig::attention_bias), {"", Part::Experts}};
constexpr Key kSparseLatentAndExperts[] = {{"", Part::Latent}, {"", Part::Experts}};
constexpr Key kSparseMiniMax[] = {{"rotary_dim", Part::RotaryDim}, {"", Part::Experts}};
constexpr Key kSparsePhiMoe[] = {flag_key("attention_bias", &ModelConfig::attention_bias),
                                 flag_key("lm_head_bias", &ModelConfig::head_bias),
                                 {"sliding_window", Part::Windows},
                                 {"", Part::Experts}};
constexpr Key kSparseGraniteWindows[] = {flag_key("attention_bias", &ModelConfig::attention_bias),
                                         {"", Part::GraniteFactors},
                                         {"sliding_window", Part::Windows},
                                         {"", Part::Experts}};
constexpr Key kSparseGranite[] = {
    flag_key("attention_bias", &ModelConfig::attention_bias), {"", Part::GraniteFactors}, {"", Part::Experts}};

ExpertForm& sigmoid_router(ModelConfig& config) {
  ExpertForm& form = config.experts.emplace();
  form.score = RouterScore::Sigmoid;
  form.renormalised = form.score_correction = true;
  return form;
}

void describe_qwen3_experts(ModelConfig& config) {
  describe_llama(config);
  config.qk_norm = QkNorm::Heads;
  config.experts.emplace().renormalised = true;
}

const Family kRoutedFamilies[] = {
    {.name = "dots1",
     .keys = llama_keys(),
     .more = kSparseWindowsAndExperts,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.qk_norm = QkNorm::Heads;
           sigmoid_router(config).renormalised = false;
         },
     .windows = WindowPattern::SwitchedLate,
     .complete = projection_follows},
    {.name = "ernie4_5_moe",
     .keys = llama_keys(),
     .more = kSparseErnie,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.max_positions = 131072;
           config.rope_theta = 500000;
           config.tied_embeddings = true;
           ExpertForm& form = config.experts.emplace();
           form.renormalised = form.score_correction = true;
         },
     .complete = biases_follow},
    {.name = "exaone_moe",
     .keys = llama_keys(),
     .more = kSparseWindowsAndExperts,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.qk_norm = QkNorm::Heads;
           config.window = 4096;
           sigmoid_router(config).scaling = 2.5;
         },
     .windows = WindowPattern::AllButEveryFourth,
     .complete = windows_turn},
    {.name = "minimax_m2",
     .keys = llama_keys(),
     .more = kSparseMiniMax,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.max_positions = 196608;
           config.rope_theta = 5000000;
           config.qk_norm = QkNorm::Joint;
           sigmoid_router(config);
         }},
    {.name = "glm4_moe_lite",
     .keys = llama_keys(),
     .more = kSparseLatentAndExperts,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.max_positions = 202752;
           sigmoid_router(config).scaling = 1.8;
         },
     .switches = latent_switches()},
    {.name = "phimoe",
     .keys = llama_keys(),
     .more = kSparsePhiMoe,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm = Norm::LayerNorm;
           config.norm_epsilon = 1e-5;
           config.max_positions = 131072;
           config.experts.emplace();
         },
     .windows = WindowPattern::All,
     .complete = projection_follows},
    {.name = "flex_olmo",
     .keys = llama_keys(),
     .more = kSparseBiasAndExperts,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.qk_norm = QkNorm::Joint;
           config.norm_place = NormPlace::Behind;
         },
     .complete = projection_follows},
    {.name = "solar_open",
     .keys = routed_keys(),
     .more = kSparseBiasAndExperts,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.head_dim = 128;
           config.max_positions = 131072;
           sigmoid_router(config);
         }},
    {.name = "hy_v3",
     .keys = llama_keys(),
     .more = kSparseBiasAndExperts,
     .describe =
         [](ModelConfig& config) {
           describe_qwen3(config);
           config.norm_epsilon = 1e-5;
           config.max_positions = 131072;
           config.initializer_range = 0.006;
           sigmoid_router(config).scaling = 2.826;
         },
     .complete = projection_follows},
    {.name = "aria_text",
     .keys = llama_keys(),
     .more = kSparseBiasAndExperts,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.experts.emplace().renormalised = true;
         },
     .complete = projection_follows},
    {.name = "granitemoeshared",
     .keys = llama_keys(),
     .more = kSparseGranite,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.experts.emplace().renormalised = true;
         },
     .complete = projection_follows},
    {.name = "granitemoe_swa",
     .keys = llama_keys(),
     .more = kSparseGraniteWindows,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.sinks = true;
           config.window = 128;
           config.experts.emplace().renormalised = true;
         },
     .windows = WindowPattern::FirstOfFourFull,
     .complete = projection_follows},
    {.name = "hunyuan_v1_moe",
     .keys = llama_keys(),
     .more = kSparseBiasAndExperts,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.qk_norm = QkNorm::Turned;
           ExpertForm& form = config.experts.emplace();
           form.renormalised = true;
           form.shared_experts = 1;
         },
     .complete = projection_follows},
    {.name = "mellum",
     .keys = llama_keys(),
     .more = kSparseWindowsAndExperts,
     .describe =
         [](ModelConfig& config) {
           describe_qwen3(config);
           config.max_positions = 131072;
           config.window = 1024;
           config.experts.emplace().renormalised = true;
         },
     .windows = WindowPattern::AllAtFirst,
     .complete = projection_follows},
    {.name = "flint",
     .keys = llama_keys(),
     .more = kSparseWindowsAndExperts,
     .describe =
         [](ModelConfig& config) {
           describe_qwen3(config);
           config.max_positions = 262144;
           config.sinks = true;
           config.window = 513;
           ExpertForm& form = config.experts.emplace();
           form.score = RouterScore::Sigmoid;
           form.renormalised = true;
         },
     .windows = WindowPattern::AllAtFirst,
     .complete = projection_follows},
    {.name = "kolibri1",
     .keys = routed_keys(),
     .more = kSparseWindowsAndExperts,
     .describe =
         [](ModelConfig& config) {
           describe_qwen3(config);
           config.max_positions = 262144;
           config.norm_place = NormPlace::Around;
           config.window = 513;
           config.experts.emplace().score = RouterScore::Sigmoid;
         },
     .windows = WindowPattern::AllAtFirst},
    {.name = "afmoe",
     .keys = llama_keys(),
     .more = kSparseWindowsAndExperts,
     .describe =
         [](ModelConfig& config) {
           describe_qwen3(config);
           config.norm_epsilon = 1e-5;
           config.max_positions = 16384;
           config.norm_place = NormPlace::Around;
           config.attention_gate = true;
           config.window = 1024;
           sigmoid_router(config);
         },
     .windows = WindowPattern::AllButEveryFourth,
     .complete = windows_turn},
    {.name = "qwen3_vl_moe_text",
     .keys = llama_keys(),
     .more = kSparseBiasAndExperts,
     .describe = describe_qwen3_experts,
     .complete = projection_follows},
    {.name = "qwen3_omni_moe_text",
     .keys = llama_keys(),
     .more = kSparseBiasAndExperts,
     .describe = describe_qwen3_experts,
     .complete = projection_follows},
    {.name = "glm4v_moe_text",
     .keys = llama_keys(),
     .more = kSparseBiasAndExperts,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.max_positions = 65536;
           config.attention_bias = true;
           config.rotary_share = 0.5;
           sigmoid_router(config);
         }},
};

}  // namespace

std::span<const Family> routed_families() { return kRoutedFamilies; }

}  // namespace sim
