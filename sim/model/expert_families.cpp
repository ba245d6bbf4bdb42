#include "sim/model/family.h"

namespace sim {
namespace {

constexpr KeyUse kUnlessUsual = KeyUse::WhenOther;

constexpr Key kExperts[] = {{"", Part::Experts}};
constexpr Key kWindowsAndExperts[] = {{"sliding_window", Part::Windows}, {"", Part::Experts}};
constexpr Key kLatentAndExperts[] = {{"", Part::Latent}, {"", Part::Experts}};
constexpr Key kQwen2[] = {
    flag_key("qkv_bias", &ModelConfig::attention_bias, kUnlessUsual), {"sliding_window", Part::Windows}, {"", Part::Experts}};
constexpr Key kQwen3[] = {
    flag_key("attention_bias", &ModelConfig::attention_bias, kUnlessUsual), {"sliding_window", Part::Windows}, {"", Part::Experts}};
constexpr Key kBiasAndExperts[] = {flag_key("attention_bias", &ModelConfig::attention_bias, kUnlessUsual), {"", Part::Experts}};
constexpr Key kGlm4[] = {
    flag_key("attention_bias", &ModelConfig::attention_bias, kUnlessUsual), {"use_qk_norm", &ModelConfig::qk_norm}, {"", Part::Experts}};
constexpr Key kGptOss[] = {flag_key("attention_bias", &ModelConfig::attention_bias),
                           {"swiglu_limit", &ModelConfig::gate_limit, kUnlessUsual},
                           {"sliding_window", Part::Windows},
                           {"", Part::Experts}};
constexpr Key kGrok1[] = {{"max_attn_value", &ModelConfig::score_cap, kUnlessUsual},
                          {"embedding_multiplier_scale", &ModelConfig::embedding_factor, kUnlessUsual},
                          {"attn_output_multiplier", Part::ScoreFactor},
                          {"output_multiplier_scale", &ModelConfig::logit_factor, kUnlessUsual},
                          {"", Part::Experts}};
constexpr Switch kOlmoeSwitches[] = {{"clip_qkv", "null", "clamping queries, keys and values"}};
constexpr Switch kLatentSwitches[] = {{"rope_interleave", "true", "turning halves of a head instead of neighbours"},
                                      {"attention_bias", "false", "a bias of latent attention"}};

constexpr Switch kSharedIndexSwitches[] = {{"rope_interleave", "true", "turning halves of a head instead of neighbours"},
                                           {"attention_bias", "false", "a bias of latent attention"},
                                           {"index_topk_freq", "1", "indexers that several layers share"}};

void describe_v3(ModelConfig& config) {
  describe_llama(config);
  ExpertForm& form = config.experts.emplace();
  form.score = RouterScore::Sigmoid;
  form.renormalised = form.score_correction = true;
  form.scaling = 2.5;
}

// Told to the reader of experts, which starts from them.
ExpertForm& experts_of(ModelConfig& config) { return config.experts.emplace(); }

const Family kExpertFamilies[] = {
    {.name = "mixtral",
     .keys = llama_keys(),
     .more = kWindowsAndExperts,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           experts_of(config).renormalised = true;
         },
     .windows = WindowPattern::All},
    {.name = "deepseek", .keys = llama_keys(), .more = kExperts, .describe = describe_llama},
    {.name = "deepseek_v2", .keys = llama_keys(), .more = kLatentAndExperts, .describe = describe_llama, .switches = kLatentSwitches},
    {.name = "deepseek_v3", .keys = llama_keys(), .more = kLatentAndExperts, .describe = describe_v3, .switches = kLatentSwitches},
    {.name = "deepseek_v32", .keys = llama_keys(), .more = kLatentAndExperts, .describe = describe_v3, .switches = kLatentSwitches},
    {.name = "glm_moe_dsa",
     .keys = llama_keys(),
     .more = kLatentAndExperts,
     .describe =
         [](ModelConfig& config) {
           describe_v3(config);
           config.norm_epsilon = 1e-5;
         },
     .switches = kSharedIndexSwitches},
    {.name = "kimi_k2", .keys = llama_keys(), .more = kLatentAndExperts, .describe = describe_v3, .switches = kLatentSwitches},
    {.name = "grok-1",
     .keys = llama_keys(),
     .more = kGrok1,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.tied_embeddings = true;
           config.activation = Activation::Silu;
           config.norm_place = NormPlace::Around;
           config.score_cap = 30;
         }},
    {.name = "olmoe",
     .keys = llama_keys(),
     .more = kBiasAndExperts,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.qk_norm = QkNorm::Joint;
         },
     .switches = kOlmoeSwitches,
     .complete = projection_follows},
    {.name = "qwen2_moe",
     .keys = llama_keys(),
     .more = kQwen2,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.attention_bias = true;
           experts_of(config).shared_gate = true;
         },
     .windows = WindowPattern::SwitchedOddEarly},
    {.name = "qwen3_moe",
     .keys = llama_keys(),
     .more = kQwen3,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.qk_norm = QkNorm::Heads;
         },
     .windows = WindowPattern::Switched,
     .complete = projection_follows},
    {.name = "glm4_moe",
     .keys = llama_keys(),
     .more = kGlm4,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.max_positions = 131072;
           config.rotary_share = 0.5;
           ExpertForm& form = experts_of(config);
           form.score = RouterScore::Sigmoid;
           form.renormalised = form.score_correction = true;
         }},
    {.name = "gpt_oss",
     .keys = llama_keys(),
     .more = kGptOss,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.head_dim = 64;
           config.max_positions = 131072;
           config.rope_theta = 150000;
           config.attention_bias = config.sinks = true;
           config.window = 128;
           config.gate_limit = 7;
           ExpertForm& form = experts_of(config);
           form.renormalised = form.biases = true;
         },
     .windows = WindowPattern::Odd,
     .complete = projection_follows},
};

}  // namespace

std::span<const Switch> latent_switches() { return kLatentSwitches; }

std::span<const Family> expert_families() { return kExpertFamilies; }

}  // namespace sim
