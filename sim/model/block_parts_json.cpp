#include "sim/model/block_parts_json.h"

#include <algorithm>
#include <cmath>

#include "sim/model/attention_form_json.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

constexpr JsonReader::Range kPlenty = {1, 1e9};
constexpr const char* kSliding = "sliding_attention";
constexpr const char* kWhole = "full_attention";

bool is_switched(WindowPattern pattern) {
  return pattern == WindowPattern::Switched || pattern == WindowPattern::SwitchedLate || pattern == WindowPattern::SwitchedOddEarly;
}

// What the family's class makes of a window without `layer_types`. block: from 0.
bool has_window(const JsonReader& config, WindowPattern pattern, std::int64_t block) {
  switch (pattern) {
    case WindowPattern::Odd: return block % 2 == 0;
    case WindowPattern::AllButEveryNth: return (block + 1) % config.integer("sliding_window_pattern", 6, kPlenty) != 0;
    case WindowPattern::SwitchedLate: return block >= config.integer("max_window_layers", 28);
    case WindowPattern::SwitchedOddEarly: return block % 2 == 0 && block < config.integer("max_window_layers", 28);
    default: return true;
  }
}

std::vector<bool> read_layer_types(const JsonReader& config, std::int64_t layers) {
  std::vector<bool> windowed;
  const Json& list = config.json()["layer_types"];
  for (const Json& type : list.is_array() ? list : Json::array())
    if (type == kSliding || type == kWhole) windowed.push_back(type == kSliding);
  if (static_cast<std::int64_t>(windowed.size()) != layers || windowed.size() != list.size())
    config.violate("layer_types", "is no list of sliding_attention and full_attention, one for each layer", "correct it");
  windowed.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(layers, 0, 10'000)));
  return windowed;
}

}  // namespace

void read_windows(const JsonReader& config, WindowPattern pattern, ModelConfig& model) {
  const bool is_null = config.json().contains("sliding_window") && config.json()["sliding_window"].is_null();
  const bool is_off = is_null || (is_switched(pattern) && !config.boolean("use_sliding_window", false));
  model.window = is_off ? 0 : config.integer("sliding_window", is_switched(pattern) ? 4096 : model.window, {0, 1e9});
  if (model.window == 0 || model.layers < 1 || model.layers > 10'000) return;
  if (config.has("layer_types")) {
    model.windowed = read_layer_types(config, model.layers);
  } else {
    for (std::int64_t block = 0; block < model.layers; ++block) model.windowed.push_back(has_window(config, pattern, block));
  }
  if (std::ranges::count(model.windowed, true) == 0) model.window = 0;
  if (std::ranges::count(model.windowed, false) == 0 || model.window == 0) model.windowed.clear();
}

void write_windows(Json& json, WindowPattern pattern, const ModelConfig& model) {
  const bool by_default = pattern == WindowPattern::Odd || pattern == WindowPattern::AllButEveryNth;
  if (model.window == 0 && by_default) json["sliding_window"] = nullptr;
  if (model.window == 0) return;
  json["sliding_window"] = model.window;
  if (is_switched(pattern)) json["use_sliding_window"] = true;
  if (pattern == WindowPattern::All) return;
  Json& types = json["layer_types"] = Json::array();
  for (std::int64_t block = 0; block < model.layers; ++block) types.push_back(window_of(model, block) > 0 ? kSliding : kWhole);
}

void read_latent_block(const JsonReader& config, ModelConfig& model) {
  const AttentionForm form = model.attention = read_latent_attention(config);
  model.kv_heads = model.heads;
  model.head_dim = (form.key_width() + form.v_dim) / 2;
}

void write_latent_block(Json& json, const ModelConfig& model) {
  write_latent_attention(json, model.attention);
  json["head_dim"] = model.attention.qk_rope;  // what Transformers' rotary positions take it for
  json["rope_interleave"] = true;
  if (!model.experts) json["first_k_dense_replace"] = model.layers;
}

// Falcon-7B: keys and values of one head, one norm. Falcon-40B ("new"): groups of heads, a norm for each branch. Falcon-RW: one after the other.
void read_falcon_block(const JsonReader& config, ModelConfig& model) {
  const bool is_new = config.boolean("new_decoder_architecture", false);
  model.parallel_blocks = is_new || config.boolean("parallel_attn", true);
  if (is_new)
    model.kv_heads = config.integer("num_kv_heads", model.heads, kPlenty);
  else
    model.kv_heads = config.boolean("multi_query", true) ? 1 : model.heads;
  model.shared_norm = model.parallel_blocks && config.integer("num_ln_in_parallel_attn", is_new ? 2 : 1, {1, 2}) == 1;
  if (config.boolean("alibi", false)) model.position = Position::Alibi;
}

void write_falcon_block(Json& json, const ModelConfig& model) {
  json["new_decoder_architecture"] = model.parallel_blocks;
  json["parallel_attn"] = model.parallel_blocks;
  if (model.parallel_blocks) json["num_kv_heads"] = model.kv_heads;
  if (model.parallel_blocks) json["num_ln_in_parallel_attn"] = model.shared_norm ? 1 : 2;
  json["multi_query"] = model.kv_heads == 1;
  json["alibi"] = model.position == Position::Alibi;
}

void read_score_factor(const JsonReader& config, ModelConfig& model) {
  if (!config.has("attn_output_multiplier")) return;
  const double factor = config.number("attn_output_multiplier", {}, {1e-6, 1e6}), divided = 1 / (factor * factor);
  const auto usual = static_cast<double>(model.head_dim);
  model.score_scale = std::abs(divided - usual) < 1e-6 * usual ? 0 : divided;
}

void write_score_factor(Json& json, const ModelConfig& model) {
  if (model.score_scale > 0) json["attn_output_multiplier"] = 1 / std::sqrt(model.score_scale);
}

void read_position_rows(const JsonReader& config, ModelConfig& model) {
  model.max_positions =
      config.integer("max_position_embeddings", 512, {static_cast<double>(model.position_offset) + 1, 1e9}) - model.position_offset;
}

}  // namespace sim
