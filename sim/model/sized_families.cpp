// Decoders whose blocks differ in their heads; each row as its class in Transformers has it.
#include "sim/model/family.h"

namespace sim {
namespace {

constexpr Key kSizedLaguna[] = {flag_key("attention_bias", &ModelConfig::attention_bias),
                                {"gating", Part::Gating},
                                {"sliding_window", Part::Windows},
                                {"num_attention_heads_per_layer", Part::HeadsPerLayer},
                                {"", Part::Experts}};
constexpr Key kSizedMiMo[] = {flag_key("attention_bias", &ModelConfig::attention_bias),
                              size_key("v_head_dim", &ModelConfig::value_dim, KeyUse::Written),
                              {"attention_value_scale", &ModelConfig::value_factor, KeyUse::Written, {}, 1e-6, 1e6},
                              {"sliding_window", Part::Windows},
                              {"", Part::Experts}};
constexpr Key kSizedGemma[] = {
    {"final_logit_softcapping", &ModelConfig::logit_cap, KeyUse::Written}, {"sliding_window", Part::Windows}, {"", Part::Gemma4}};
constexpr Switch kSizedGemmaSwitches[] = {{"use_bidirectional_attention", "\"vision\"", "attention to what follows"}};
constexpr Switch kSizedLagunaSwitches[] = {{"moe_router_logit_softcapping", "0.0", "a cap of the router's logits"},
                                           {"moe_apply_router_weight_on_input", "false", "experts whose scores weigh what they read"}};

void route_behind_one(ModelConfig& config) {
  ExpertForm& form = config.experts.emplace();
  form.score = RouterScore::Sigmoid;
  form.renormalised = form.score_correction = true;
  form.first_dense_layers = 1;
}

// Twice as many heads of keys under a window.
void double_keys_in_windows(ModelConfig& config) {
  if (config.window == 0) return;
  for (std::int64_t block = 0; block < config.layers; ++block)
    config.sizes.push_back({config.heads, config.kv_heads * (window_of(config, block) > 0 ? 2 : 1), config.head_dim, config.ffn});
}

void describe_gemma4(ModelConfig& config) {
  describe_llama(config);
  config.activation = Activation::GeluTanh;
  config.head_dim = 256;
  config.max_positions = 131072;
  config.tied_embeddings = true;
  config.norm_place = NormPlace::Around;
  config.qk_norm = QkNorm::Heads;
  config.value_norm = true;
  config.score_scale = 1;
  config.window = 512;
  config.rope_theta = 1e6;
  config.local_rope_theta = 10000;
  config.local_rotary_share = 1;
  config.rope_scaling = {.kind = RopeScalingKind::Proportional, .share = 0.25};
  config.layer_inputs = 256;
}
void describe_unified_gemma4(ModelConfig& config) {
  describe_gemma4(config);
  config.max_positions = 262144;
  config.window = 1024;
  config.layer_inputs = 0;
}

const Family kSizedFamilies[] = {
    {.name = "gemma4_text",
     .keys = gemma_keys(),
     .more = kSizedGemma,
     .describe = describe_gemma4,
     .windows = WindowPattern::AllButEveryNth,
     .switches = kSizedGemmaSwitches,
     .complete = complete_gemma},
    {.name = "gemma4_unified_text",
     .keys = gemma_keys(),
     .more = kSizedGemma,
     .describe = describe_unified_gemma4,
     .windows = WindowPattern::AllButEveryNth,
     .switches = kSizedGemmaSwitches,
     .complete = complete_gemma},
    {.name = "laguna",
     .keys = llama_keys(),
     .more = kSizedLaguna,
     .describe =
         [](ModelConfig& config) {
           describe_qwen3(config);
           config.head_dim = 128;
           config.max_positions = 131072;
           config.rope_theta = 500000;
           config.local_rope_theta = 10000;
           config.rotary_share = 0.5;
           config.local_rotary_share = 1;
           config.attention_gate = config.head_gate = config.softplus_gate = true;
           config.window = 512;
           route_behind_one(config);
         },
     .windows = WindowPattern::Listed,
     .switches = kSizedLagunaSwitches,
     .complete = projection_follows},
    {.name = "mimo_v2_flash",
     .keys = llama_keys(),
     .more = kSizedMiMo,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.norm_epsilon = 1e-5;
           config.head_dim = 192;
           config.value_dim = 128;
           config.value_factor = 0.707;
           config.max_positions = 131072;
           config.rope_theta = 5000000;
           config.local_rope_theta = 10000;
           config.rotary_share = config.local_rotary_share = 0.334;
           config.sinks = config.sinks_in_windows = true;
           config.window = 129;
           route_behind_one(config);
         },
     .windows = WindowPattern::AllButFirstAndSixths,
     .complete = double_keys_in_windows},
};

}  // namespace

std::span<const Family> sized_families() { return kSizedFamilies; }

}  // namespace sim
