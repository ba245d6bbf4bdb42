#include "sim/estimate/network_config.h"

#include <algorithm>
#include <array>

#include "sim/model/attention_form_json.h"
#include "sim/model/expert_form_json.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

// What the families of Hugging Face's transformers do where their config says nothing of it.
struct Family {
  std::string_view name;
  bool gated, rms_norm, rotary, tied, bias;
  NetworkKind kind = NetworkKind::Decoder;
  std::int64_t window_every = 0;  // sliding windows in every such layer; 0: as `layer_types` says, else in all if a window is given
};
constexpr Family kFamilies[] = {
    {"gpt2", false, false, false, true, true},
    {"gpt_neox", false, false, true, false, true},
    {"opt", false, false, false, true, true},
    {"bloom", false, false, false, true, true},
    {"mpt", false, false, false, true, false},
    {"bert", false, false, false, true, true, NetworkKind::Encoder},
    {"llama", true, true, true, false, false},
    {"mistral", true, true, true, false, false},
    {"qwen2", true, true, true, false, false},
    {"qwen3", true, true, true, false, false},
    {"gemma2", true, true, true, true, false, NetworkKind::Decoder, 2},
    {"phi3", true, true, true, false, false},
    {"mixtral", true, true, true, false, false},
    {"grok-1", true, true, true, true, false},
    {"qwen2_moe", true, true, true, false, false},
    {"qwen3_moe", true, true, true, false, false},
    {"olmoe", true, true, true, false, false},
    {"deepseek_v2", true, true, true, false, false},
    {"deepseek_v3", true, true, true, false, false},
    {"gpt_oss", true, true, true, false, true, NetworkKind::Decoder, 2},
};
constexpr JsonReader::Range kSize = {1, 1e9};

// The first of several names that families have for the same number.
std::int64_t size_of(const JsonReader& config, std::initializer_list<const char*> names, std::optional<std::int64_t> fallback = {}) {
  for (const char* name : names)
    if (config.has(name) && config.json()[name].is_number_integer()) return config.integer(name, {}, kSize);
  return fallback ? *fallback : config.integer(*names.begin(), {}, kSize);
}

const Family& family_of(const JsonReader& config) {
  std::array<std::string_view, std::size(kFamilies)> names;
  std::transform(std::begin(kFamilies), std::end(kFamilies), names.begin(), [](const Family& family) { return family.name; });
  return kFamilies[config.choice("model_type", names)];
}

AttentionForm attention_of(const JsonReader& config, const Family& family) {
  if (has_latent_attention(config)) return read_latent_attention(config);
  AttentionForm form;
  const bool is_off = config.has("use_sliding_window") && !config.boolean("use_sliding_window");
  if (!config.has("sliding_window") || is_off) return form;
  form.kind = AttentionKind::Sliding;
  form.window = size_of(config, {"sliding_window"});
  form.every = std::max<std::int64_t>(1, family.window_every);
  return form;
}

}  // namespace

Network network_from_config(const Json& json, const std::string& file) {
  const JsonReader config(json, file);
  const Family& family = family_of(config);
  config.finish();
  Network net;
  net.kind = family.kind;
  net.layers = size_of(config, {"num_hidden_layers", "n_layer", "n_layers"});
  net.hidden = size_of(config, {"hidden_size", "n_embd", "d_model"});
  net.heads = size_of(config, {"num_attention_heads", "n_head", "n_heads"});
  config.finish();
  net.kv_heads = size_of(config, {"num_key_value_heads"}, net.heads);
  net.head_dim = size_of(config, {"head_dim"}, std::max<std::int64_t>(1, net.hidden / net.heads));
  net.ffn = size_of(config, {"intermediate_size", "n_inner", "ffn_dim"}, 4 * net.hidden);
  net.vocabulary = size_of(config, {"vocab_size"});
  net.gated = family.gated;
  net.rms_norm = family.rms_norm;
  net.rotary = family.rotary;
  if (!family.rotary) net.positions = size_of(config, {"n_positions", "max_position_embeddings"}, 0);  // of ALiBi no config says a number
  net.bias = family.bias;
  net.tied = config.boolean("tie_word_embeddings", family.tied);
  net.attention = attention_of(config, family);
  net.experts = read_experts(config, {net.ffn});
  config.finish();
  return net;
}

Network load_network(const std::string& path) { return network_from_config(load_json_file(path), path); }

}  // namespace sim
