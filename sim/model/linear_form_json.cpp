#include "sim/model/linear_form_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/model/model_text.h"
#include "sim/units/at.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

constexpr JsonReader::Range kLinearCount = {1, 1e5};
constexpr JsonReader::Range kLinearBlocks = {1, 1e4};
constexpr std::size_t kMostLinearBlocks = 10'000;
constexpr std::int64_t kWidestScan = 4'000'000;  // of all heads

struct LinearSize {
  std::string_view key;
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

constexpr LinearSize kNemotronSizes[] = {{"mamba_num_heads", &LinearForm::heads},   {"n_groups", &LinearForm::groups},
                                         {"ssm_state_size", &LinearForm::key},      {"mamba_head_dim", &LinearForm::value},
                                         {"conv_kernel", &LinearForm::convolution}, {"chunk_size", &LinearForm::chunk}};
constexpr LinearSize kMamba2Sizes[] = {{"num_heads", &LinearForm::heads},         {"n_groups", &LinearForm::groups},
                                       {"state_size", &LinearForm::key},          {"head_dim", &LinearForm::value},
                                       {"conv_kernel", &LinearForm::convolution}, {"chunk_size", &LinearForm::chunk}};

// In an object of its own; heads are as wide as narrow vectors, and share nothing.
constexpr LinearSize kKimiSizes[] = {
    {"num_heads", &LinearForm::heads}, {"head_dim", &LinearForm::value}, {"short_conv_kernel_size", &LinearForm::convolution}};
constexpr const char* kWidthOfValues = "mamba_d_ssm";
constexpr const char* kKimiObject = "linear_attn_config";
constexpr LinearSize kSelectiveSizes[] = {
    {"time_step_rank", &LinearForm::step_rank}, {"state_size", &LinearForm::key}, {"conv_kernel", &LinearForm::convolution}};
constexpr LinearSize kJambaSizes[] = {
    {"mamba_dt_rank", &LinearForm::step_rank}, {"mamba_d_state", &LinearForm::key}, {"mamba_d_conv", &LinearForm::convolution}};
constexpr LinearSize kConvolutionSizes[] = {{"conv_L_cache", &LinearForm::convolution}};

// `layers`: how the file says which blocks have it.
struct LinearNames {
  std::string_view family;
  std::span<const LinearSize> sizes;
  const char *biases, *convolution_bias, *expand;  // expand: values, in widths of the stream, where no width of a head says it
  void (*read_layers)(const JsonReader& config, ModelConfig& model);
  void (*write_layers)(Json& json, const ModelConfig& model);
  bool says_width = false;  // of all values
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
    if (is_one_of(type, {"linear_attention", "mamba", "conv", "full_attention", "attention"}))
      linear.push_back(is_one_of(type, {"linear_attention", "mamba", "conv"}));
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
      sim::at(model.linear_layers, block) = false;
    else
      config.violate("attn_layer_indices", fmt::format("names layer {} of {}", block, model.layers), "correct it");
}

void write_attention_indices(Json& json, const ModelConfig& model) {
  Json& indices = json["attn_layer_indices"] = Json::array();
  for (std::size_t block = 0; block < model.linear_layers.size(); ++block)
    if (!model.linear_layers[block]) indices.push_back(block);
}

void read_types_alone(const JsonReader& config, ModelConfig& model) { read_types(config, "layer_types", model); }

// Mixers alone, feed-forwards alone: a letter a layer, or a word.
struct HalfName {
  char letter;
  std::string_view word, older;
  BlockHalf half;
  bool linear, experts;
};
constexpr HalfName kHalfNames[] = {{'M', "linear_attention", "mamba", BlockHalf::Mixer, true, false},
                                   {'*', "full_attention", "attention", BlockHalf::Mixer, false, false},
                                   {'-', "mlp", "mlp", BlockHalf::FeedForward, false, false},
                                   {'E', "moe", "moe", BlockHalf::FeedForward, false, true}};

std::vector<const HalfName*> read_halves(const JsonReader& config) {
  std::vector<const HalfName*> halves;
  const auto add = [&](const char* key, const auto& is_meant) {
    const auto* const found = std::ranges::find_if(kHalfNames, is_meant);
    if (found != std::end(kHalfNames)) return halves.push_back(found);
    config.violate(key, "names a layer that is neither M, *, - nor E", "correct it");
  };
  const std::string pattern = config.text("hybrid_override_pattern", "");
  for (const char letter : pattern.substr(0, kMostLinearBlocks))
    add("hybrid_override_pattern", [&](const HalfName& one) { return one.letter == letter; });
  if (!pattern.empty() || !config.has("layers_block_type")) return halves;
  const Json& types = config.json()["layers_block_type"];
  for (const Json& type : types.is_array() && types.size() <= kMostLinearBlocks ? types : Json::array())
    add("layers_block_type", [&](const HalfName& one) { return type == one.word || type == one.older; });
  return halves;
}

void read_pattern(const JsonReader& config, ModelConfig& model) {
  const std::vector<const HalfName*> halves = read_halves(config);
  if (halves.empty()) config.violate("hybrid_override_pattern", "is missing: which layer is what", "add it");
  model.layers = static_cast<std::int64_t>(halves.size());
  model.linear_layers.clear();
  model.experts->dense_layers.clear();
  for (const HalfName* half : halves) {
    if (half->half == BlockHalf::FeedForward && !half->experts)
      model.experts->dense_layers.push_back(static_cast<std::int64_t>(model.halves.size()));
    if (half->experts && !config.has("n_routed_experts"))
      config.violate("n_routed_experts", "is missing, and the pattern has layers of experts", "add it");
    model.halves.push_back(half->half);
    model.linear_layers.push_back(half->linear);
  }
}

void write_pattern(Json& json, const ModelConfig& model) { json["hybrid_override_pattern"] = letters_of_layers(model); }

// Counted from 1.
void read_kimi_layers(const JsonReader& config, ModelConfig& model) {
  const JsonReader object = config.child(kKimiObject);
  std::size_t named = 0;
  for (const bool linear : {true, false})
    for (const std::int64_t block : object.integers(linear ? "kda_layers" : "full_attn_layers")) {
      if (block < 1 || block > static_cast<std::int64_t>(model.linear_layers.size()))
        return config.violate(kKimiObject, fmt::format("names layer {} of {}", block, model.layers), "correct it");
      model.linear_layers[static_cast<std::size_t>(block) - 1] = linear;
      ++named;
    }
  if (named != model.linear_layers.size())
    config.violate(kKimiObject, fmt::format("names {} of {} layers", named, model.layers), "name each once");
}

void write_kimi_layers(Json& json, const ModelConfig& model) {
  Json& object = json[kKimiObject];
  object["kda_layers"] = object["full_attn_layers"] = Json::array();
  for (std::size_t block = 0; block < model.linear_layers.size(); ++block)
    object[model.linear_layers[block] ? "kda_layers" : "full_attn_layers"].push_back(block + 1);
}

void mixers_alone(const JsonReader&, ModelConfig& model) { model.halves.assign(model.linear_layers.size(), BlockHalf::Mixer); }
void in_every_block(const JsonReader&, ModelConfig&) {}
void nothing_to_write(Json&, const ModelConfig&) {}

// Attention stands at one place of so many.
void read_attention_period(const JsonReader& config, ModelConfig& model) {
  const std::int64_t period = config.integer("attn_layer_period", 8, kLinearBlocks),
                     offset = config.integer("attn_layer_offset", 4, {0, kLinearBlocks.high});
  if (offset >= period) config.violate("attn_layer_offset", fmt::format("is {}, of a period of {}", offset, period), "choose one below it");
  for (std::size_t block = 0; block < model.linear_layers.size() && period > 0; ++block)
    model.linear_layers[block] = static_cast<std::int64_t>(block) % period != offset;
}

void write_attention_period(Json& json, const ModelConfig& model) {
  const auto begin = model.linear_layers.begin(), end = model.linear_layers.end();
  const auto first = std::find(begin, end, false), second = first == end ? end : std::find(first + 1, end, false);
  json["attn_layer_offset"] = first - begin;
  json["attn_layer_period"] = std::max(second - first, first - begin + 1);
}

// Blocks that convolve, by their types or as all but those that attend.
void read_convolutions(const JsonReader& config, ModelConfig& model) {
  const auto blocks = static_cast<std::int64_t>(model.linear_layers.size());
  if (config.has("full_attn_idxs") && !config.has("layer_types")) {
    for (const std::int64_t block : config.integers("full_attn_idxs"))
      if (block >= 0 && block < blocks)
        sim::at(model.linear_layers, block) = false;
      else
        config.violate("full_attn_idxs", fmt::format("names layer {} of {}", block, model.layers), "correct it");
    return;
  }
  read_types(config, "layer_types", model);
  if (!config.has("layer_types")) model.linear_layers.assign(model.linear_layers.size(), false);
}

void write_convolutions(Json& json, const ModelConfig& model) {
  Json& types = json["layer_types"] = Json::array();
  for (const bool linear : model.linear_layers) types.push_back(linear ? "conv" : "full_attention");
}

constexpr LinearNames kLinearNames[] = {
    {"qwen3_next", kDeltaSizes, nullptr, nullptr, nullptr, read_layer_types_of, write_layer_types_of},
    {"qwen3_5_text", kDeltaSizes, nullptr, nullptr, nullptr, read_layer_types_of, write_layer_types_of},
    {"qwen3_5_moe_text", kDeltaSizes, nullptr, nullptr, nullptr, read_layer_types_of, write_layer_types_of},
    {"olmo_hybrid", kDeltaSizes, nullptr, nullptr, nullptr, read_layer_types_of, write_layer_types_of},
    {"granitemoehybrid", kMambaSizes, "mamba_proj_bias", "mamba_conv_bias", "mamba_expand", read_types_alone, write_layer_types_of},
    {"nemotron_h", kNemotronSizes, "use_bias", "use_conv_bias", nullptr, read_pattern, write_pattern},
    {"mamba2", kMamba2Sizes, "use_bias", "use_conv_bias", nullptr, mixers_alone, nothing_to_write},
    {"mamba", kSelectiveSizes, "use_bias", "use_conv_bias", "expand", mixers_alone, nothing_to_write},
    {"falcon_mamba", kSelectiveSizes, "use_bias", "use_conv_bias", "expand", mixers_alone, nothing_to_write},
    {"jamba", kJambaSizes, "mamba_proj_bias", "mamba_conv_bias", "mamba_expand", read_attention_period, write_attention_period},
    {"falcon_h1", kMambaSizes, "mamba_proj_bias", "mamba_conv_bias", "mamba_expand", in_every_block, nothing_to_write, true},
    {"lfm2", kConvolutionSizes, "conv_bias", "conv_bias", nullptr, read_convolutions, write_convolutions},
    {"lfm2_moe", kConvolutionSizes, "conv_bias", "conv_bias", nullptr, read_convolutions, write_convolutions},
    {"kimi_linear", kKimiSizes, nullptr, nullptr, nullptr, read_kimi_layers, write_kimi_layers},
    {"bamba", kMambaSizes, "mamba_proj_bias", "mamba_conv_bias", "mamba_expand", read_attention_indices, write_attention_indices},
};

const LinearNames& linear_names(const ModelConfig& model) {
  const auto* const found = std::ranges::find(kLinearNames, model.model_type, &LinearNames::family);
  return found == std::end(kLinearNames) ? kLinearNames[0] : *found;
}

// Falcon-H1 says it, and null is what others take.
std::int64_t width_of_values(const JsonReader& config, const LinearNames& names, std::int64_t expanded) {
  constexpr std::int64_t kUsual = 1024;
  if (!names.says_width) return expanded;
  if (!config.json().contains(kWidthOfValues)) return kUsual;
  return config.integer(kWidthOfValues, expanded, kLinearCount);
}

// What follows from the width of the stream. Channels are heads of one number; a step is made of a sixteenth as many where the file says "auto".
void follow_width(const JsonReader& config, const LinearNames& names, ModelConfig& model) {
  LinearForm& form = *model.linear;
  const std::int64_t expand = names.expand == nullptr ? 1 : config.integer(names.expand, 2, kLinearCount),
                     width = width_of_values(config, names, expand * model.hidden);
  if (form.is_of_channels()) form.heads = form.groups = width, form.value = 1;
  if (form.rule == LinearRule::Selective && form.step_rank == 0) form.step_rank = (model.hidden + 15) / 16;
  if (names.expand != nullptr && form.value == 0 && form.heads > 0) form.value = width / form.heads;
  if (names.says_width && form.values() != width)
    config.violate(kWidthOfValues, fmt::format("is {}, and {} heads of {} are {} wide", width, form.heads, form.value, form.values()),
                   "correct it");
}

// "auto" for what follows from others.
void read_sizes(const JsonReader& config, const LinearNames& names, ModelConfig& model) {
  LinearForm& form = *model.linear;
  const JsonReader where = names.sizes.data() == kKimiSizes ? config.child(kKimiObject) : config;
  for (const LinearSize& size : names.sizes) {
    const std::string key(size.key);
    const bool is_auto = where.has(key) && where.json()[key] == "auto";
    if (!is_auto) form.*size.field = where.integer(key, form.*size.field, kLinearCount);
  }
  if (form.rule == LinearRule::ChannelDelta) form.groups = form.heads, form.key = form.value;
  follow_width(config, names, model);
}

void judge_channels(const JsonReader& config, const LinearForm& form) {
  if (form.heads > kWidestScan / std::max<std::int64_t>(1, form.key))
    config.violate(
        "hidden_size",
        fmt::format("makes {} channels with states of {}: all together must be {} wide at most", form.heads, form.key, kWidestScan),
        "choose other sizes");
}

void judge_sizes(const JsonReader& config, const LinearNames& names, ModelConfig& model) {
  LinearForm& form = *model.linear;
  if (form.is_of_channels()) return judge_channels(config, form);
  if (form.heads < 1 || form.groups < 1 || form.heads % form.groups != 0)
    config.violate(std::string(names.sizes[0].key),
                   fmt::format("is {}, which groups of queries and keys ({}) do not divide", form.heads, form.groups), "choose a multiple");
  const std::int64_t widest = std::max(form.key, form.value);
  if (widest < 1 || std::max(form.heads, form.groups) > kWidestScan / std::max<std::int64_t>(1, widest))
    config.violate(std::string(names.sizes[0].key),
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
  model.linear_layers.assign(
      static_cast<std::size_t>(std::clamp<std::int64_t>(model.layers, 0, static_cast<std::int64_t>(kMostLinearBlocks))), true);
  names.read_layers(config, model);
}

void write_linear(Json& json, const ModelConfig& model) {
  if (!model.linear) return;
  const LinearNames& names = linear_names(model);
  const LinearForm& form = *model.linear;
  Json& where = names.sizes.data() == kKimiSizes ? json[kKimiObject] : json;
  for (const LinearSize& size : names.sizes) where[std::string(size.key)] = form.*size.field;
  if (form.rule == LinearRule::Selective) json[names.expand] = form.values() / std::max<std::int64_t>(1, model.hidden);
  if (names.says_width) json[kWidthOfValues] = form.values();
  if (names.biases != nullptr) json[names.biases] = form.biases;
  if (names.convolution_bias != nullptr) json[names.convolution_bias] = form.convolution_bias;
  names.write_layers(json, model);
}

}  // namespace sim
