#include "sim/model/family.h"

namespace sim {
namespace {

constexpr Key kQwen3Next[] = {
    flag_key("attention_bias", &ModelConfig::attention_bias, KeyUse::WhenOther), {"", Part::Linear}, {"", Part::Experts}};
constexpr Key kBamba[] = {
    flag_key("attention_bias", &ModelConfig::attention_bias), flag_key("mlp_bias", &ModelConfig::mlp_bias), {"", Part::Linear}};
constexpr Switch kBambaSwitches[] = {{"num_experts", "1", "experts beside state spaces"}};

LinearForm mamba(std::int64_t groups, std::int64_t state, std::int64_t chunk) {
  return {.rule = LinearRule::StateSpace, .heads = 128, .groups = groups, .key = state, .chunk = chunk, .convolution_bias = true};
}

const Family kLinearFamilies[] = {
    {.name = "qwen3_next",
     .keys = llama_keys(),
     .more = kQwen3Next,
     .describe =
         [](ModelConfig& config) {
           describe_llama(config);
           config.max_positions = 32768;
           config.head_dim = 256;
           config.rotary_share = 0.25;
           config.qk_norm = QkNorm::Heads;
           config.offset_norm = config.attention_gate = true;
           config.linear = LinearForm{.rule = LinearRule::GatedDelta, .heads = 32, .groups = 16, .key = 128, .value = 128};
           ExpertForm& form = config.experts.emplace();
           form.renormalised = form.shared_gate = true;
         },
     .complete = projection_follows},
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
};

}  // namespace

std::span<const Family> linear_families() { return kLinearFamilies; }

}  // namespace sim
