#include "sim/model/block_parts_json.h"

#include <algorithm>
#include <cmath>

#include "sim/model/attention_form_json.h"
#include "sim/units/at.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

constexpr JsonReader::Range kPlenty = {1, 1e9};
constexpr const char* kSliding = "sliding_attention";
constexpr const char* kWhole = "full_attention";

bool is_switched(WindowPattern pattern) {
  return pattern == WindowPattern::Switched || pattern == WindowPattern::SwitchedLate || pattern == WindowPattern::SwitchedOddEarly;
}

// Where the file is silent its class has one: none must be written.
bool has_window_by_default(WindowPattern pattern) {
  return pattern == WindowPattern::Odd || pattern == WindowPattern::AllButEveryNth || pattern == WindowPattern::AllButEveryFourth ||
         pattern == WindowPattern::AllAtFirst || pattern == WindowPattern::FirstOfFourFull ||
         pattern == WindowPattern::AllButFirstAndSixths;
}

// Exaone says it as letters, too: "LLLG".
std::int64_t period_of(const JsonReader& config, std::int64_t otherwise) {
  const char* key = config.has("global_attn_every_n_layers") ? "global_attn_every_n_layers" : "sliding_window_pattern";
  const bool is_text = config.has(key) && config.json()[key].is_string();
  if (is_text) return std::max<std::int64_t>(1, static_cast<std::int64_t>(config.text(key).size()));
  return config.integer(key, otherwise, kPlenty);
}

// What the family's class makes of a window without `layer_types`. block: from 0.
bool has_window(const JsonReader& config, WindowPattern pattern, std::int64_t block) {
  switch (pattern) {
    case WindowPattern::Odd: return block % 2 == 0;
    case WindowPattern::AllButEveryNth: return (block + 1) % config.integer("sliding_window_pattern", 6, kPlenty) != 0;
    case WindowPattern::AllButEveryFourth: return (block + 1) % period_of(config, 4) != 0;
    case WindowPattern::FirstOfFourFull: return block % 4 != 0;
    case WindowPattern::AllButFirstAndSixths: return block != 0 && (block + 1) % 6 != 0;
    case WindowPattern::Listed: return false;
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
  windowed.resize(count_of(std::clamp<std::int64_t>(layers, 0, 10'000)));
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
  if (model.window == 0 && has_window_by_default(pattern)) json["sliding_window"] = nullptr;
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

// Scores are multiplied by a factor where others divide them by a root, logits divided.
void read_granite_factors(const JsonReader& config, ModelConfig& model) {
  constexpr JsonReader::Range kFactor = {1e-6, 1e6};
  const double scores = config.number("attention_multiplier", 1, kFactor);
  model.score_scale = 1 / (scores * scores);
  model.embedding_factor = config.number("embedding_multiplier", 1, kFactor);
  model.residual_factor = config.number("residual_multiplier", 1, kFactor);
  model.logit_factor = 1 / config.number("logits_scaling", 1, kFactor);
  if (model.model_type != "granitemoehybrid") return;
  if (config.text("position_embedding_type", "nope") != "rope") model.position = Position::None;
  if (config.integer("num_local_experts", 8, {0, 1e7}) == 0) model.ffn = config.integer("shared_intermediate_size", 1024, {1, 1e7});
}

void write_granite_factors(Json& json, const ModelConfig& model) {
  json["attention_multiplier"] = 1 / std::sqrt(model.score_scale);
  json["embedding_multiplier"] = model.embedding_factor;
  json["residual_multiplier"] = model.residual_factor;
  json["logits_scaling"] = 1 / model.logit_factor;
  if (model.model_type != "granitemoehybrid") return;
  json["position_embedding_type"] = model.position == Position::Rotary ? "rope" : "nope";
  if (!model.experts) json["num_local_experts"] = 0, json["shared_intermediate_size"] = model.ffn;
}

namespace {

// By block: a list of 0 and 1, or every so many blocks none.
std::vector<bool> read_turned(const JsonReader& config, const ModelConfig& model) {
  const std::int64_t every = config.integer("no_rope_layer_interval", 4, kPlenty);
  std::vector<bool> turned;
  for (std::int64_t block = 0; block < std::clamp<std::int64_t>(model.layers, 0, 10'000); ++block)
    turned.push_back((block + 1) % every != 0);
  if (!config.has("no_rope_layers")) return turned;
  const std::vector<std::int64_t> listed = config.integers("no_rope_layers");
  if (listed.empty()) return turned;
  if (listed.size() != turned.size()) config.violate("no_rope_layers", "is no list of 0 and 1, one for each layer", "correct it");
  for (std::size_t block = 0; block < std::min(listed.size(), turned.size()); ++block) turned[block] = listed[block] != 0;
  return turned;
}

// One by one, most often those that the step between them says.
void read_moe_layers(const JsonReader& config, std::int64_t layers, ExpertForm& form) {
  const std::vector<std::int64_t> routed = config.integers("moe_layers");
  ExpertForm listed = form;
  listed.every = 1;
  bool is_step = true;
  for (std::int64_t layer = 0; layer < std::clamp<std::int64_t>(layers, 0, 10'000); ++layer) {
    const bool is_routed = std::ranges::find(routed, layer) != routed.end();
    if (!is_routed) listed.dense_layers.push_back(layer);
    is_step &= is_routed == form.has_experts(layer);
  }
  if (!is_step) form = listed;
}

void turned_have_windows(ModelConfig& model) {
  model.windowed = model.unturned;
  model.windowed.flip();
}

}  // namespace

void read_llama4(const JsonReader& config, ModelConfig& model) {
  config.has("layer_types");  // what no_rope_layers says
  read_unturned(config, model);
  model.window = config.json().contains("attention_chunk_size") && config.json()["attention_chunk_size"].is_null()
                     ? 0
                     : config.integer("attention_chunk_size", 8192, kPlenty);
  model.chunked = model.window > 0;
  model.qk_norm = config.boolean("use_qk_norm", true) ? QkNorm::Plain : QkNorm::None;
  if (model.chunked) turned_have_windows(model);
  const std::int64_t ffn = model.ffn;  // of experts; dense layers have their own
  model.ffn = config.integer("intermediate_size_mlp", 16384, {1, 1e7});
  ExpertForm& form = *model.experts;
  form.experts = config.integer("num_local_experts", 16, {1, 1e7});
  form.topk = config.integer("num_experts_per_tok", 1, {1, 1e7});
  form.expert_ffn = form.shared_ffn = ffn;
  form.every = config.integer("interleave_moe_layer_step", 1, {1, 1e4});
  if (config.has("moe_layers")) read_moe_layers(config, model.layers, form);
  if (form.topk > form.experts) config.violate("num_experts_per_tok", "is above the number of experts", "correct it");
  if (form.experts > 100'000'000 / std::max<std::int64_t>(1, ffn))
    config.violate("num_local_experts", "times the width of an expert is above 10^8", "correct them");
}

void write_llama4(Json& json, const ModelConfig& model) {
  const ExpertForm& form = *model.experts;
  json["intermediate_size"] = form.expert_ffn;
  json["intermediate_size_mlp"] = model.ffn;
  json["num_local_experts"] = form.experts;
  json["num_experts_per_tok"] = form.topk;
  json["interleave_moe_layer_step"] = form.every;
  if (!form.dense_layers.empty()) {
    Json& routed = json["moe_layers"] = Json::array();
    for (std::int64_t layer = 0; layer < model.layers; ++layer)
      if (form.has_experts(layer)) routed.push_back(layer);
  }
  json["use_qk_norm"] = model.qk_norm == QkNorm::Plain;
  json["attention_chunk_size"] = model.window > 0 ? Json(model.window) : Json(nullptr);
  write_unturned(json, model);
}

void read_unturned(const JsonReader& config, ModelConfig& model) {
  std::vector<bool> turned = read_turned(config, model);
  if (std::ranges::count(turned, false) == 0) return;
  turned.flip();
  model.unturned = turned;
}

void write_unturned(Json& json, const ModelConfig& model) {
  Json& turned = json["no_rope_layers"] = Json::array();
  for (std::int64_t block = 0; block < model.layers; ++block)
    turned.push_back(model.unturned.empty() || !sim::at(model.unturned, block) ? 1 : 0);
}

void turn_under_windows(ModelConfig& model) {
  if (model.window == 0 || model.windowed.empty()) return;
  model.unturned = model.windowed;
  model.unturned.flip();
}

void read_rotary_dim(const JsonReader& config, ModelConfig& model) {
  if (!config.has("rotary_dim") || model.head_dim < 1) return;
  const std::int64_t turned = config.integer("rotary_dim", model.head_dim, {2, static_cast<double>(model.head_dim)});
  model.rotary_share = static_cast<double>(turned) / static_cast<double>(model.head_dim);
}

// Of MiniCPM: what halves add by the root of the depth, logits by the width of the network that was tuned.
void read_depth_factors(const JsonReader& config, ModelConfig& model) {
  constexpr JsonReader::Range kFactor = {1e-6, 1e6};
  model.embedding_factor = config.number("scale_emb", 1, kFactor);
  model.residual_factor =
      config.number("scale_depth", 1, kFactor) / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, model.layers)));
  const auto hidden = static_cast<double>(std::max<std::int64_t>(1, model.hidden));
  model.logit_factor = config.number("dim_model_base", hidden, {1, 1e9}) / hidden;
}

void write_depth_factors(Json& json, const ModelConfig& model) {
  json["scale_emb"] = model.embedding_factor;
  json["scale_depth"] = model.residual_factor * std::sqrt(static_cast<double>(model.layers));
  json["dim_model_base"] = std::llround(model.logit_factor * static_cast<double>(model.hidden));
}

void read_position_rows(const JsonReader& config, ModelConfig& model) {
  model.max_positions =
      config.integer("max_position_embeddings", 512, {static_cast<double>(model.position_offset) + 1, 1e9}) - model.position_offset;
}

void read_both_ways(const JsonReader& config, ModelConfig& model) {
  model.rope_theta = config.number("global_rope_theta", model.rope_theta, {1e-6, 1e30});
  model.local_rope_theta = config.number("local_rope_theta", model.local_rope_theta, {1e-6, 1e30});
  const std::int64_t usual = model.bidirectional ? model.window - 1 : 2 * model.window,
                     reach = config.integer("local_attention", usual, kPlenty) / 2;
  model.window = model.bidirectional ? 2 * reach + 1 : reach;
  if (model.layers < 1 || model.layers > 10'000) return;
  const std::int64_t every = config.integer("global_attn_every_n_layers", 3, kPlenty);
  if (config.has("layer_types"))
    model.windowed = read_layer_types(config, model.layers);
  else
    for (std::int64_t block = 0; block < model.layers; ++block) model.windowed.push_back(block % every != 0);
  if (std::ranges::count(model.windowed, true) == 0) model.window = 0;
  if (std::ranges::count(model.windowed, false) == 0 || model.window == 0) model.windowed.clear();
}

void write_both_ways(Json& json, const ModelConfig& model) {
  json["local_attention"] = std::max<std::int64_t>(1, model.bidirectional ? model.window - 1 : 2 * model.window);
  Json& types = json["layer_types"] = Json::array();
  for (std::int64_t block = 0; block < model.layers; ++block) types.push_back(window_of(model, block) > 0 ? kSliding : kWhole);
}

}  // namespace sim
