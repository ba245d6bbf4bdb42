#include "sim/model/linear_form_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/units/json_reader.h"

namespace sim {
namespace {

constexpr JsonReader::Range kLinearCount = {1, 1e5};
constexpr JsonReader::Range kLinearBlocks = {1, 1e4};
constexpr std::int64_t kMostLinearBlocks = 10'000, kWidestScan = 4'000'000;  // of all heads

struct LinearSize {
  const char* key;
  std::int64_t LinearForm::*field;
};
constexpr LinearSize kDeltaSizes[] = {{"linear_num_value_heads", &LinearForm::heads},
                                      {"linear_num_key_heads", &LinearForm::groups},
                                      {"linear_key_head_dim", &LinearForm::key},
                                      {"linear_value_head_dim", &LinearForm::value},
                                      {"linear_conv_kernel_dim", &LinearForm::convolution}};
constexpr LinearSize kMambaSizes[] = {{"mamba_n_heads", &LinearForm::heads},      {"mamba_n_groups", &LinearForm::groups},
                                      {"mamba_d_state", &LinearForm::key},        {"mamba_d_head", &LinearForm::value},
                                      {"mamba_d_conv", &LinearForm::convolution}, {"mamba_chunk_size", &LinearForm::chunk}};

// `layers`: how the file says which blocks have it.
struct LinearNames {
  std::string_view family;
  std::span<const LinearSize> sizes;
  const char *biases, *convolution_bias;
  void (*read_layers)(const JsonReader& config, ModelConfig& model);
  void (*write_layers)(Json& json, const ModelConfig& model);
};

bool is_one_of(const Json& type, std::initializer_list<const char*> names) {
  return std::ranges::any_of(names, [&](const char* name) { return type == name; });
}

// One type a layer, under the names of today and of older releases.
void read_types(const JsonReader& config, const char* key, ModelConfig& model) {
  if (!config.has(key)) return;
  const Json& types = config.json()[key];
  std::vector<bool> linear;
  for (const Json& type : types.is_array() ? types : Json::array())
    if (is_one_of(type, {"linear_attention", "mamba", "full_attention", "attention"}))
      linear.push_back(is_one_of(type, {"linear_attention", "mamba"}));
  if (linear.size() != types.size() || linear.size() != model.linear_layers.size())
    return config.violate(key, "is no list of linear_attention and full_attention, one for each layer", "correct it");
  model.linear_layers = linear;
}

void read_layer_types_of(const JsonReader& config, ModelConfig& model) {
  const std::int64_t every = config.integer("full_attention_interval", 4, kLinearBlocks);
  for (std::size_t block = 0; block < model.linear_layers.size(); ++block)
    model.linear_layers[block] = every < 1 || (block + 1) % static_cast<std::size_t>(every) != 0;
  read_types(config, "layer_types", model);
}

void write_layer_types_of(Json& json, const ModelConfig& model) {
  Json& types = json["layer_types"] = Json::array();
  for (const bool linear : model.linear_layers) types.push_back(linear ? "linear_attention" : "full_attention");
}

void read_attention_indices(const JsonReader& config, ModelConfig& model) {
  for (const std::int64_t block : config.integers("attn_layer_indices"))
    if (block >= 0 && block < static_cast<std::int64_t>(model.linear_layers.size()))
      model.linear_layers[static_cast<std::size_t>(block)] = false;
    else
      config.violate("attn_layer_indices", fmt::format("names layer {} of {}", block, model.layers), "correct it");
}

void write_attention_indices(Json& json, const ModelConfig& model) {
  Json& indices = json["attn_layer_indices"] = Json::array();
  for (std::size_t block = 0; block < model.linear_layers.size(); ++block)
    if (!model.linear_layers[block]) indices.push_back(block);
}

constexpr LinearNames kLinearNames[] = {
    {"qwen3_next", kDeltaSizes, nullptr, nullptr, read_layer_types_of, write_layer_types_of},
    {"bamba", kMambaSizes, "mamba_proj_bias", "mamba_conv_bias", read_attention_indices, write_attention_indices},
};

const LinearNames& linear_names(const ModelConfig& model) {
  const auto* const found = std::ranges::find(kLinearNames, model.model_type, &LinearNames::family);
  return found == std::end(kLinearNames) ? kLinearNames[0] : *found;
}

// "auto" for the width of a head, and what must hold between sizes.
void read_sizes(const JsonReader& config, const LinearNames& names, ModelConfig& model) {
  LinearForm& form = *model.linear;
  for (const LinearSize& size : names.sizes) {
    const bool is_auto = config.has(size.key) && config.json()[size.key] == "auto";
    if (!is_auto) form.*size.field = config.integer(size.key, form.*size.field, kLinearCount);
  }
  const std::int64_t inner = config.integer("mamba_expand", 2, kLinearCount) * model.hidden;
  const bool follows = form.rule == LinearRule::StateSpace && form.heads > 0 && (!config.has("mamba_d_head") || form.value == 0);
  if (follows) form.value = inner / form.heads;
}

void judge_sizes(const JsonReader& config, const LinearNames& names, ModelConfig& model) {
  LinearForm& form = *model.linear;
  if (form.heads < 1 || form.groups < 1 || form.heads % form.groups != 0)
    config.violate(names.sizes[0].key, fmt::format("is {}, which groups of queries and keys ({}) do not divide", form.heads, form.groups),
                   "choose a multiple");
  const std::int64_t widest = std::max(form.key, form.value);
  if (widest < 1 || std::max(form.heads, form.groups) > kWidestScan / std::max<std::int64_t>(1, widest))
    config.violate(names.sizes[0].key,
                   fmt::format("is {}, with heads of {}: all together must be 1 to {} wide", form.heads, widest, kWidestScan),
                   "choose other sizes");
}

}  // namespace

void read_linear(const JsonReader& config, ModelConfig& model) {
  const LinearNames& names = linear_names(model);
  LinearForm& form = model.linear ? *model.linear : model.linear.emplace();
  if (names.biases != nullptr) form.biases = config.boolean(names.biases, form.biases);
  if (names.convolution_bias != nullptr) form.convolution_bias = config.boolean(names.convolution_bias, form.convolution_bias);
  read_sizes(config, names, model);
  judge_sizes(config, names, model);
  model.linear_layers.assign(static_cast<std::size_t>(std::clamp<std::int64_t>(model.layers, 0, kMostLinearBlocks)), true);
  names.read_layers(config, model);
}

void write_linear(Json& json, const ModelConfig& model) {
  if (!model.linear) return;
  const LinearNames& names = linear_names(model);
  const LinearForm& form = *model.linear;
  for (const LinearSize& size : names.sizes) json[size.key] = form.*size.field;
  if (names.biases != nullptr) json[names.biases] = form.biases;
  if (names.convolution_bias != nullptr) json[names.convolution_bias] = form.convolution_bias;
  names.write_layers(json, model);
}

}  // namespace sim
