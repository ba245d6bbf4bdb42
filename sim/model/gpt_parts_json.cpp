#include "sim/model/gpt_parts_json.h"

#include <algorithm>
#include <cmath>

#include "sim/units/at.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

constexpr JsonReader::Range kAtLeastOne = {1, 1e9};
constexpr std::int64_t kMostBlocks = 10'000;
constexpr const char* kLocal = "local";
constexpr const char* kTurned = "max_position_embeddings";  // only where positions turn
constexpr double kRopeBase = 10000;                         // what ratios are of

// By block: whether it is local.
std::vector<bool> unrolled(const Json& types) {
  std::vector<bool> local;
  for (const Json& entry : types.is_array() ? types : Json::array()) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_array() || !entry[1].is_number_integer()) return {};
    const std::int64_t times = std::clamp<std::int64_t>(entry[1].get<std::int64_t>(), 0, kMostBlocks);
    for (std::int64_t time = 0; time < times && static_cast<std::int64_t>(local.size()) < kMostBlocks; ++time)
      for (const Json& type : entry[0]) local.push_back(type == kLocal);
  }
  return local;
}

void read_experts_of(const JsonReader& ffn, ModelConfig& model) {
  model.ffn = ffn.integer("ffn_hidden_size", 3584, {1, 1e7});
  ExpertForm form = model.experts.value_or(ExpertForm{});
  form.experts = ffn.integer("moe_num_experts", 4, {1, 1e4});
  form.topk = ffn.integer("moe_top_k", 1, {1, static_cast<double>(form.experts)});
  form.expert_ffn = model.ffn;
  form.renormalised = ffn.has("moe_normalize_expert_weights");
  model.experts = form;
}

}  // namespace

void read_multi_query(const JsonReader& config, ModelConfig& model) {
  model.kv_heads = config.integer("num_key_value_heads", config.boolean("multi_query", true) ? 1 : model.heads, kAtLeastOne);
}

void read_gpt_neo(const JsonReader& config, ModelConfig& model) {
  model.score_scale = 1;
  config.has("attention_layers");  // what attention_types says, unrolled
  if (!config.has("attention_types") || model.layers < 1) return;
  std::vector<bool> local = unrolled(config.json()["attention_types"]);
  if (static_cast<std::int64_t>(local.size()) != model.layers)
    config.violate("attention_types", "is no list of patterns and how often they stand, for each layer", "correct it");
  local.resize(count_of(std::clamp<std::int64_t>(model.layers, 0, kMostBlocks)));
  const std::int64_t window = config.integer("window_size", 256, kAtLeastOne);
  if (std::ranges::count(local, true) == 0) return;
  model.window = window;
  if (std::ranges::count(local, false) > 0) model.windowed = local;
}

void write_gpt_neo(Json& json, const ModelConfig& model) {
  Json types = Json::array();
  for (std::int64_t block = 0; block < model.layers; ++block) types.push_back(window_of(model, block) > 0 ? kLocal : "global");
  json["attention_types"] = Json::array({Json::array({types, 1})});
  if (model.window > 0) json["window_size"] = model.window;
}

void read_mosaic(const JsonReader& config, ModelConfig& model) {
  const Json none = Json::object();
  const JsonReader attention = config.has("attn_config") ? config.child("attn_config") : JsonReader(none, "");
  const bool is_routed = model.model_type == "dbrx";
  config.has("num_key_value_heads");
  model.kv_heads = attention.integer("kv_n_heads", is_routed ? 1 : model.heads, {1, 1e5});
  if (attention.boolean("qk_ln", false))
    attention.violate("qk_ln", "is true: norms of queries and keys of this family are not supported", "plan another network");
  if (!is_routed) {
    model.position = attention.boolean("alibi", true) ? Position::Alibi : Position::Learned;
    model.ffn = static_cast<std::int64_t>(config.number("expansion_ratio", 4, {0.1, 100}) * static_cast<double>(model.hidden));
    model.attention_bias = model.norm_bias = !config.boolean("no_bias", true);
    return;
  }
  if (config.has("rope_parameters")) model.rope_theta = config.child("rope_parameters").number("rope_theta", model.rope_theta, {1, 1e30});
  model.rope_theta = attention.number("rope_theta", model.rope_theta, {1, 1e30});
  read_experts_of(config.has("ffn_config") ? config.child("ffn_config") : JsonReader(none, ""), model);
}

void write_mosaic(Json& json, const ModelConfig& model) {
  Json& attention = json["attn_config"] = Json::object();
  if (model.kv_heads != model.heads || model.experts) attention["kv_n_heads"] = model.kv_heads;
  if (!model.experts) {
    attention["alibi"] = model.position == Position::Alibi;
    if (model.ffn % model.hidden == 0)
      json["expansion_ratio"] = model.ffn / model.hidden;
    else
      json["expansion_ratio"] = static_cast<double>(model.ffn) / static_cast<double>(model.hidden);
    json["no_bias"] = !model.attention_bias;
    return;
  }
  attention["rope_theta"] = model.rope_theta;
  Json& ffn = json["ffn_config"] = {
      {"ffn_hidden_size", model.ffn}, {"moe_num_experts", model.experts->experts}, {"moe_top_k", model.experts->topk}};
  if (model.experts->renormalised) ffn["moe_normalize_expert_weights"] = 1.0;
}

void read_both_halves(const JsonReader& config, ModelConfig& model) {
  const std::int64_t both = config.integer("intermediate_size", {}, {2, 1e9});
  if (both % 2 != 0) config.violate("intermediate_size", "is odd, and counts gate and up, which are as wide", "correct it");
  model.ffn = both / 2;
}

// 7B turns, 13B has slopes, and their files differ in the name of how far they see. The files of Baichuan 2 weigh the square of the loss's normaliser, and
// its heads are normed.
void read_baichuan_positions(const JsonReader& config, ModelConfig& model) {
  constexpr std::int64_t kUsual = 4096;
  const bool turns = config.has(kTurned);
  model.position = turns ? Position::Rotary : Position::Alibi;
  model.max_positions = config.integer(turns ? kTurned : "model_max_length", kUsual, kAtLeastOne);
  model.normed_head = config.has("z_loss_weight");
}

void write_baichuan_positions(Json& json, const ModelConfig& model) {
  json[model.position == Position::Rotary ? kTurned : "model_max_length"] = model.max_positions;
  if (model.normed_head) json["z_loss_weight"] = 0;
}

// As wide as a feed-forward without a gate of the width that the file names, and a multiple of what suits kernels.
void read_adjusted_width(const JsonReader& config, ModelConfig& model) {
  constexpr std::int64_t kUsual = 12288;
  model.ffn = config.integer("block_ff_dim", config.integer("intermediate_size", kUsual, kAtLeastOne), kAtLeastOne);
  if (!config.boolean("block_auto_adjust_ff_dim", true)) return;
  const double factor = config.number("block_ffn_dim_multiplier", 1, {1e-6, 1e3});
  const std::int64_t multiple = config.integer("block_multiple_of", 256, {1, 1e6}), gated = 2 * model.ffn / 3,
                     width = static_cast<std::int64_t>(factor * static_cast<double>(gated));
  model.ffn = std::max<std::int64_t>(1, (width + multiple - 1) / multiple) * multiple;
}

void write_adjusted_width(Json& json, const ModelConfig& model) {
  json["intermediate_size"] = model.ffn;
  json["block_auto_adjust_ff_dim"] = false;
}

void read_rope_ratio(const JsonReader& config, ModelConfig& model) {
  model.rope_theta = kRopeBase * config.number("rope_ratio", 1, {1e-3, 1e9});
}

void write_rope_ratio(Json& json, const ModelConfig& model) { json["rope_ratio"] = model.rope_theta / kRopeBase; }

void read_table_width(const JsonReader& config, ModelConfig& model) {
  const std::int64_t usual = model.embedding_width > 0 ? model.embedding_width : std::max<std::int64_t>(1, model.hidden);
  const std::int64_t width = config.integer("embedding_size", usual, {1, 1e6});
  model.narrow_tables = width != model.hidden;
  model.embedding_width = model.narrow_tables ? width : 0;
}

void write_table_width(Json& json, const ModelConfig& model) {
  json["embedding_size"] = model.narrow_tables ? model.embedding_width : model.hidden;
}

void read_esm_positions(const JsonReader& config, ModelConfig& model) {
  constexpr std::string_view kKinds[] = {"absolute", "rotary"};
  constexpr std::int64_t kUsual = 1026, kInFront = 2;
  const bool turns = config.choice("position_embedding_type", kKinds, 0) == 1;
  model.position = turns ? Position::Rotary : Position::Learned;
  model.position_offset = turns ? 0 : kInFront;
  model.max_positions = config.integer(kTurned, kUsual, {static_cast<double>(model.position_offset) + 1, 1e9}) - model.position_offset;
  if (turns) model.rope_theta = config.number("rope_theta", kRopeBase, {1e-6, 1e30});
}

void write_esm_positions(Json& json, const ModelConfig& model) {
  const bool turns = model.position == Position::Rotary;
  json["position_embedding_type"] = turns ? "rotary" : "absolute";
  json[kTurned] = model.max_positions + model.position_offset;
  if (turns) json["rope_theta"] = model.rope_theta;
}

void read_width_ratio(const JsonReader& config, ModelConfig& model) {
  constexpr std::int64_t kEight = 8;
  model.gated_mlp = config.boolean("use_swiglu_ffn", model.gated_mlp);
  model.ffn = model.hidden * config.integer("mlp_ratio", 4, {1, 100});
  if (!model.gated_mlp) return;
  model.activation = Activation::Silu;
  model.ffn = (model.ffn * 2 / 3 + kEight - 1) / kEight * kEight;
}

void write_width_ratio(Json& json, const ModelConfig& model) {
  const double both = static_cast<double>(model.ffn) * (model.gated_mlp ? 1.5 : 1);
  json["mlp_ratio"] = std::llround(both / static_cast<double>(std::max<std::int64_t>(1, model.hidden)));
  json["use_swiglu_ffn"] = model.gated_mlp;
}

}  // namespace sim
