#include "sim/model/block_sizes_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/units/at.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

constexpr JsonReader::Range kHeads = {1, 1e5}, kDivisor = {1, 1e7}, kShare = {1e-3, 1e3}, kPlentyOfRows = {1, 1e9};
constexpr std::int64_t kMultiple = 256;  // of a width that follows from a factor

// A number for each block; with a violation, none.
std::vector<double> by_layer(const JsonReader& config, const char* key, std::int64_t layers, JsonReader::Range range) {
  config.has(key);
  const Json& list = config.json().contains(key) ? config.json()[key] : Json();
  std::vector<double> numbers;
  for (const Json& one : list.is_array() ? list : Json::array())
    if (one.is_number() && one.get<double>() >= range.low && one.get<double>() <= range.high) numbers.push_back(one.get<double>());
  if (static_cast<std::int64_t>(numbers.size()) == layers && numbers.size() == list.size()) return numbers;
  config.violate(key, fmt::format("is no list of {} numbers of {} to {}, one for each layer", layers, range.low, range.high), "correct it");
  return {};
}

bool has_plausible_depth(const ModelConfig& model) { return model.layers >= 1 && model.layers <= 10'000; }

// What stands for the network where one number is asked: the widest.
void take_widest(ModelConfig& model) {
  for (const BlockSizes& block : model.sizes) {
    model.heads = std::max(model.heads, block.heads), model.kv_heads = std::max(model.kv_heads, block.kv_heads);
    model.ffn = std::max(model.ffn, block.ffn);
  }
}

std::int64_t up_to_multiple(std::int64_t width, std::int64_t multiple) { return (width + multiple - 1) / multiple * multiple; }

// To the nearest multiple, unless that is less than nine tenths.
std::int64_t to_nearest_multiple(double width, std::int64_t multiple) {
  const auto divisor = static_cast<double>(multiple);
  const std::int64_t nearest = std::max(multiple, static_cast<std::int64_t>(width + divisor / 2) / multiple * multiple);
  return static_cast<double>(nearest) < 0.9 * width ? nearest + multiple : nearest;
}

bool is_left_out(const JsonReader& part) {
  if (part.boolean("replace_with_linear", false)) part.violate("replace_with_linear", "is not supported", "plan another network");
  return part.boolean("no_op", false);
}

// Where a half is left out, the sizes of the block before it stand for it.
void read_block(const JsonReader& block, ModelConfig& model) {
  BlockSizes sizes = model.sizes.empty() ? BlockSizes{model.heads, model.heads, model.head_dim, model.hidden} : model.sizes.back();
  const JsonReader attention = block.child("attention"), feed_forward = block.child("ffn");
  const bool attends = !is_left_out(attention), feeds = !is_left_out(feed_forward);
  if (attends) {
    const std::int64_t group = attention.integer("n_heads_in_group", 1, kHeads);
    if (group < 1 || model.heads % group != 0) attention.violate("n_heads_in_group", "does not divide the heads", "correct it");
    sizes.kv_heads = std::max<std::int64_t>(1, model.heads / std::max<std::int64_t>(1, group));
  }
  if (feeds) {
    const double width = 2 * feed_forward.number("ffn_mult", {}, kShare) * static_cast<double>(model.hidden) / 3;
    sizes.ffn = up_to_multiple(static_cast<std::int64_t>(width), kMultiple);
  }
  if (!attends && !feeds) block.violate("attention", "and ffn are both left out: a block with nothing", "leave the block out");
  model.halves.push_back(!attends ? BlockHalf::FeedForward : feeds ? BlockHalf::Both : BlockHalf::Mixer);
  model.sizes.push_back(sizes);
}

// The key of a block: Transformers writes all of them as long as the longest ("05"), and reads any.
std::string key_of_block(const JsonReader& config, std::int64_t block) {
  std::string key = std::to_string(block);
  constexpr std::size_t kLongest = 6;
  while (!config.has(key) && key.size() < kLongest) key.insert(0, 1, '0');
  return key;
}

// Of one block as a file of today has it: what differs there.
void read_layer_override(const JsonReader& config, std::int64_t block, BlockSizes& sizes) {
  const std::string key = key_of_block(config, block);
  if (!config.has(key)) return;
  const JsonReader one = config.child(key);
  sizes.head_dim = one.integer("head_dim", sizes.head_dim, kDivisor);
  sizes.kv_heads = one.integer("num_key_value_heads", sizes.kv_heads, kHeads);
}

}  // namespace

void read_heads_per_layer(const JsonReader& config, ModelConfig& model) {
  if (!config.has("num_attention_heads_per_layer") || !has_plausible_depth(model)) return;
  std::vector<BlockSizes> sizes;
  for (const double heads : by_layer(config, "num_attention_heads_per_layer", model.layers, kHeads))
    sizes.push_back({static_cast<std::int64_t>(heads), model.kv_heads, model.head_dim, model.ffn});
  if (std::ranges::any_of(sizes, [&](const BlockSizes& block) { return block.heads != model.heads; })) model.sizes = std::move(sizes);
}

void write_heads_per_layer(Json& json, const ModelConfig& model) {
  Json& heads = json["num_attention_heads_per_layer"] = Json::array();
  for (std::int64_t block = 0; block < model.layers; ++block) heads.push_back(sizes_of(model, block).heads);
}

void read_layer_scaling(const JsonReader& config, ModelConfig& model) {
  if (!has_plausible_depth(model)) return;
  const std::vector<double> heads = by_layer(config, "num_query_heads", model.layers, kHeads),
                            keys = by_layer(config, "num_kv_heads", model.layers, kHeads),
                            factors = by_layer(config, "ffn_multipliers", model.layers, kShare);
  const std::int64_t multiple = config.integer("ffn_dim_divisor", kMultiple, kDivisor);
  if (heads.empty() || keys.empty() || factors.empty() || multiple < 1) return;
  for (std::int64_t block = 0; block < model.layers; ++block)
    model.sizes.push_back({static_cast<std::int64_t>(sim::at(heads, block)), static_cast<std::int64_t>(sim::at(keys, block)),
                           model.head_dim, to_nearest_multiple(sim::at(factors, block) * static_cast<double>(model.hidden), multiple)});
  model.heads = model.kv_heads = model.ffn = 0;
  take_widest(model);
}

void write_layer_scaling(Json& json, const ModelConfig& model) {
  for (const char* key : {"num_query_heads", "num_kv_heads", "ffn_multipliers"}) json[key] = Json::array();
  for (std::int64_t block = 0; block < model.layers; ++block) {
    const BlockSizes sizes = sizes_of(model, block);
    json["num_query_heads"].push_back(sizes.heads);
    json["num_kv_heads"].push_back(sizes.kv_heads);
    json["ffn_multipliers"].push_back(static_cast<double>(sizes.ffn) / static_cast<double>(model.hidden));
  }
  json["ffn_dim_divisor"] = 1;
}

void read_block_configs(const JsonReader& config, ModelConfig& model) {
  const std::vector<JsonReader> blocks = config.children("block_configs");
  if (!has_plausible_depth(model)) return;
  if (static_cast<std::int64_t>(blocks.size()) != model.layers)
    return config.violate("block_configs", fmt::format("has {} blocks of {}", blocks.size(), model.layers), "add one for each layer");
  for (const JsonReader& block : blocks) read_block(block, model);
  model.kv_heads = model.ffn = 0;
  take_widest(model);
  if (std::ranges::count(model.halves, BlockHalf::Both) == model.layers) model.halves.clear();
}

void write_block_configs(Json& json, const ModelConfig& model) {
  Json& blocks = json["block_configs"] = Json::array();
  for (std::int64_t block = 0; block < model.layers; ++block) {
    const BlockSizes sizes = sizes_of(model, block);
    const BlockHalf half = half_of(model, block);
    const double factor = 1.5 * static_cast<double>(sizes.ffn) / static_cast<double>(model.hidden);
    Json attention = {{"no_op", half == BlockHalf::FeedForward}}, feed_forward = {{"no_op", half == BlockHalf::Mixer}};
    if (half != BlockHalf::FeedForward) attention["n_heads_in_group"] = sizes.heads / sizes.kv_heads;
    if (half != BlockHalf::Mixer) feed_forward["ffn_mult"] = factor;
    blocks.push_back({{"attention", attention}, {"ffn", feed_forward}});
  }
}

void read_gemma4(const JsonReader& config, ModelConfig& model) {
  const bool has_experts = config.boolean("enable_moe_block", false);
  if (has_experts) config.violate("enable_moe_block", "is true: experts beside a feed-forward are not supported", "plan a dense Gemma 4");
  model.keys_as_values = config.boolean("attention_k_eq_v", model.keys_as_values);
  model.layer_inputs = config.integer("hidden_size_per_layer_input", model.layer_inputs, {0, 1e6});
  model.layer_vocabulary = config.integer("vocab_size_per_layer_input", model.vocabulary, kPlentyOfRows);
  if (model.layer_inputs == 0) model.layer_vocabulary = 0;
  model.shared_kv_layers = config.integer("num_kv_shared_layers", 0, {0, 1e4});
  if (!has_plausible_depth(model)) return;
  if (!model.windowed.empty()) model.windowed.back() = false;
  const std::int64_t width = config.integer("global_head_dim", 512, kDivisor),
                     keys = config.integer("num_global_key_value_heads", model.kv_heads, kHeads);
  const bool is_wide = config.boolean("use_double_wide_mlp", false), is_listed = config.has("per_layer_config");
  for (std::int64_t block = 0; block < model.layers; ++block) {
    BlockSizes sizes{model.heads, model.kv_heads, model.head_dim, model.ffn * (is_wide && reads_keys_before(model, block) ? 2 : 1)};
    const bool sees_all = window_of(model, block) == 0;
    if (sees_all && !is_listed) sizes.head_dim = width;
    if (sees_all && !is_listed && model.keys_as_values) sizes.kv_heads = keys;
    if (is_listed) read_layer_override(config.child("per_layer_config"), block, sizes);
    model.sizes.push_back(sizes);
  }
  const auto made = model.layers - model.shared_kv_layers;
  const auto is_made = [&](std::int64_t reader) {
    for (std::int64_t block = 0; block < made; ++block)
      if ((window_of(model, block) > 0) == (window_of(model, reader) > 0)) return true;
    return false;
  };
  for (std::int64_t block = std::max<std::int64_t>(0, made); block < model.layers; ++block)
    if (!is_made(block))
      return config.violate("num_kv_shared_layers", fmt::format("leaves block {} no block of its kind to read from", block), "use fewer");
}

void write_gemma4(Json& json, const ModelConfig& model) {
  json["attention_k_eq_v"] = model.keys_as_values;
  json["hidden_size_per_layer_input"] = model.layer_inputs;
  if (model.layer_inputs > 0) json["vocab_size_per_layer_input"] = model.layer_vocabulary;
  json["num_kv_shared_layers"] = model.shared_kv_layers;
  json["use_double_wide_mlp"] = sizes_of(model, model.layers - 1).ffn > model.ffn;
  Json& layers = json["per_layer_config"] = Json::object();
  for (std::int64_t block = 0; block < model.layers; ++block) {
    const BlockSizes sizes = sizes_of(model, block);
    if (sizes.head_dim == model.head_dim && sizes.kv_heads == model.kv_heads) continue;
    layers[std::to_string(block)] = {{"head_dim", sizes.head_dim}, {"num_key_value_heads", sizes.kv_heads}};
  }
}

void read_gating(const JsonReader& config, ModelConfig& model) {
  if (!config.has("gating")) return;
  const Json& gating = config.json()["gating"];
  model.head_gate = gating == true || gating == "per-head";
}

void write_gating(Json& json, const ModelConfig& model) { json["gating"] = model.head_gate ? "per-head" : "per-element"; }

}  // namespace sim
