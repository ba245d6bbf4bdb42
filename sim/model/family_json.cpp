#include "sim/model/family_json.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "sim/model/attention_form_json.h"
#include "sim/model/block_parts_json.h"
#include "sim/model/block_sizes_json.h"
#include "sim/model/class_sizes.h"
#include "sim/model/convolution_form_json.h"
#include "sim/model/encoder_form_json.h"
#include "sim/model/expert_form_json.h"
#include "sim/model/gpt_parts_json.h"
#include "sim/model/linear_form_json.h"
#include "sim/model/patch_form_json.h"
#include "sim/model/rope_scaling_json.h"
#include "sim/units/at.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

struct ActivationName {
  std::string_view name;
  Activation activation;
};
constexpr std::array kActivations = std::to_array<ActivationName>({{"gelu_new", Activation::GeluTanh},
                                                                   {"gelu_pytorch_tanh", Activation::GeluTanh},
                                                                   {"gelu_fast", Activation::GeluTanh},
                                                                   {"gelu", Activation::Gelu},
                                                                   {"silu", Activation::Silu},
                                                                   {"swish", Activation::Silu},
                                                                   {"relu", Activation::Relu},
                                                                   {"relu2", Activation::SquaredRelu},
                                                                   {"xielu", Activation::Xielu}});

std::size_t place_of(Activation activation) {
  return position_in(kActivations, std::ranges::find(kActivations, activation, &ActivationName::activation));
}

Activation read_activation(const JsonReader& config, const std::string& key, Activation fallback) {
  std::array<std::string_view, kActivations.size()> names;
  std::ranges::transform(kActivations, names.begin(), &ActivationName::name);
  return kActivations[config.choice(key, names, place_of(fallback))].activation;
}

// One key's field. A size that is at fault is told once and becomes 0, which violations() does not judge.
class Reader {
 public:
  Reader(const JsonReader& config, ModelConfig& model, const Key& key, bool within)
      : config_(config),
        model_(model),
        key_(key),
        within_(within),
        name_(!key.also.empty() && !config.has(std::string(key.name)) && config.has(std::string(key.also)) ? key.also : key.name) {}

  void operator()(std::int64_t ModelConfig::*field) const {
    if (config_.has(name_)) {
      model_.*field = config_.integer(name_, 0, {key_.low, key_.high});
    } else if (key_.use == KeyUse::Needed && !(within_ && model_.*field > 0)) {
      config_.violate(name_, "is missing", "add it");
    }
  }
  void operator()(double ModelConfig::*field) const {
    if (is_null() && key_.low == 0) model_.*field = 0;
    model_.*field = config_.number(name_, model_.*field, {key_.low, key_.high});
  }
  void operator()(bool ModelConfig::*field) const { model_.*field = config_.boolean(name_, model_.*field); }
  void operator()(Activation ModelConfig::*field) const { model_.*field = read_activation(config_, name_, model_.*field); }
  void operator()(QkNorm ModelConfig::*field) const { model_.*field = config_.boolean(name_, false) ? QkNorm::Heads : QkNorm::None; }
  void operator()(Part) const {}

 private:
  bool is_null() const { return config_.json().contains(name_) && config_.json()[name_].is_null(); }  // a cap that is switched off

  const JsonReader& config_;
  ModelConfig& model_;
  const Key& key_;
  bool within_;
  std::string name_;
};

void read_part(const JsonReader& config, const Family& family, Part part, ModelConfig& model) {
  switch (part) {
    case Part::Rotary: return read_rotary(config, model);
    case Part::Windows: return read_windows(config, family.windows, model);
    case Part::Latent: return read_latent_block(config, model);
    case Part::Experts:
      model.experts = read_experts(config, {model.ffn}, model.experts.value_or(ExpertForm{}));
      if (model.experts && model.experts->first_dense_layers >= model.layers) model.experts.reset();
      return;
    case Part::PositionRows: return read_position_rows(config, model);
    case Part::FalconBlock: return read_falcon_block(config, model);
    case Part::ScoreFactor: return read_score_factor(config, model);
    case Part::Maps: return read_maps(config, model);
    case Part::Patches: return read_patches(config, model);
    case Part::Linear: return read_linear(config, model);
    case Part::GraniteFactors: return read_granite_factors(config, model);
    case Part::Llama4: return read_llama4(config, model);
    case Part::DepthFactors: return read_depth_factors(config, model);
    case Part::Unturned: return read_unturned(config, model);
    case Part::RotaryDim: return read_rotary_dim(config, model);
    case Part::MultiQuery: return read_multi_query(config, model);
    case Part::GptNeo: return read_gpt_neo(config, model);
    case Part::Mosaic: return read_mosaic(config, model);
    case Part::T5Stacks: return read_t5_stacks(config, model);
    case Part::BartStacks: return read_bart_stacks(config, model);
    case Part::LocalRadius: return read_local_radius(config, model);
    case Part::T5FeedForward: return read_t5_feed_forward(config, model);
    case Part::ScaledEmbedding: return read_scaled_embedding(config, model);
    case Part::BothHalves: return read_both_halves(config, model);
    case Part::RopeRatio: return read_rope_ratio(config, model);
    case Part::BothWays: return read_both_ways(config, model);
    case Part::CorrectedScores: return read_corrected_scores(config, model.experts);
    case Part::SaidPositions:
      if (!config.has("rope_parameters") && !config.has("rope_theta") && !config.has("rope_scaling")) model.position = Position::None;
      return;
    case Part::TableWidth: return read_table_width(config, model);
    case Part::EsmPositions: return read_esm_positions(config, model);
    case Part::WidthRatio: return read_width_ratio(config, model);
    case Part::AdjustedWidth: return read_adjusted_width(config, model);
    case Part::Sound: return read_sound(config, model);
    case Part::BaichuanPositions: return read_baichuan_positions(config, model);
    case Part::HeadsPerLayer: return read_heads_per_layer(config, model);
    case Part::LayerScaling: return read_layer_scaling(config, model);
    case Part::BlockConfigs: return read_block_configs(config, model);
    case Part::Gemma4: return read_gemma4(config, model);
    case Part::Gating: return read_gating(config, model);
    case Part::GateNorm: model.linear->gate_norm = config.boolean("mamba_rms_norm", model.linear->gate_norm); return;
  }
}

void write_part(Json& json, const Family& family, Part part, const ModelConfig& model) {
  switch (part) {
    case Part::Rotary: return write_rotary(json, model);
    case Part::Windows: return write_windows(json, family.windows, model);
    case Part::Latent: return write_latent_block(json, model);
    case Part::Experts:
      if (model.experts) write_experts(json, *model.experts);
      return;
    case Part::PositionRows: json["max_position_embeddings"] = model.max_positions + model.position_offset; return;
    case Part::FalconBlock: return write_falcon_block(json, model);
    case Part::ScoreFactor: return write_score_factor(json, model);
    case Part::Maps: return write_maps(json, model);
    case Part::Patches: return write_patches(json, model);
    case Part::Linear: return write_linear(json, model);
    case Part::GraniteFactors: return write_granite_factors(json, model);
    case Part::Llama4: return write_llama4(json, model);
    case Part::DepthFactors: return write_depth_factors(json, model);
    case Part::Unturned: return write_unturned(json, model);
    case Part::RotaryDim: json["rotary_dim"] = rotary_width(model); return;
    case Part::MultiQuery: json["multi_query"] = model.kv_heads == 1; return;
    case Part::GptNeo: return write_gpt_neo(json, model);
    case Part::Mosaic: return write_mosaic(json, model);
    case Part::T5Stacks: return write_t5_stacks(json, model);
    case Part::BartStacks: return write_bart_stacks(json, model);
    case Part::LocalRadius: return write_local_radius(json, model);
    case Part::T5FeedForward: return write_t5_feed_forward(json, model);
    case Part::ScaledEmbedding: return write_scaled_embedding(json, model);
    case Part::BothHalves: json["intermediate_size"] = 2 * model.ffn; return;
    case Part::RopeRatio: return write_rope_ratio(json, model);
    case Part::BothWays: return write_both_ways(json, model);
    case Part::CorrectedScores: return write_corrected_scores(json, model.experts);
    case Part::SaidPositions:
      if (model.position == Position::None) json.erase("rope_theta");
      return;
    case Part::TableWidth: return write_table_width(json, model);
    case Part::EsmPositions: return write_esm_positions(json, model);
    case Part::WidthRatio: return write_width_ratio(json, model);
    case Part::AdjustedWidth: return write_adjusted_width(json, model);
    case Part::Sound: return write_sound(json, model);
    case Part::BaichuanPositions: return write_baichuan_positions(json, model);
    case Part::HeadsPerLayer: return write_heads_per_layer(json, model);
    case Part::LayerScaling: return write_layer_scaling(json, model);
    case Part::BlockConfigs: return write_block_configs(json, model);
    case Part::Gemma4: return write_gemma4(json, model);
    case Part::Gating: return write_gating(json, model);
    case Part::GateNorm: json["mamba_rms_norm"] = model.linear->gate_norm; return;
  }
}

// As the classes of Transformers take them: a cap that is switched off is no number, and Gemma's scale of scores is a whole one.
Json written_number(const ModelConfig& model, double ModelConfig::*field) {
  const double value = model.*field;
  if ((field == &ModelConfig::score_cap || field == &ModelConfig::logit_cap) && value == 0) return nullptr;
  if (field == &ModelConfig::score_scale && value == std::floor(value)) return static_cast<std::int64_t>(value);
  return value;
}

Json written(const ModelConfig& model, const KeyField& field) {
  if (const auto* size = std::get_if<std::int64_t ModelConfig::*>(&field)) return model.**size;
  if (const auto* number = std::get_if<double ModelConfig::*>(&field)) return written_number(model, *number);
  if (const auto* flag = std::get_if<bool ModelConfig::*>(&field)) return model.**flag;
  if (const auto* norm = std::get_if<QkNorm ModelConfig::*>(&field)) return model.**norm == QkNorm::Heads;
  return std::string(kActivations[place_of(model.*std::get<Activation ModelConfig::*>(field))].name);
}

// Sizes that follow from others where the file has none.
void fill_sizes(ModelConfig& model) {
  if (model.kv_heads == 0) model.kv_heads = model.heads;
  if (model.head_dim == 0 && model.heads > 0) model.head_dim = model.hidden / model.heads;
  if (model.ffn == 0) model.ffn = 4 * model.hidden;
}

template <class Visit>
void each_key(const Family& family, Visit visit) {
  for (const auto keys : {family.keys, family.more})
    for (const Key& key : keys) visit(key);
}

ModelConfig described(const Family& family) {
  ModelConfig model;
  model.model_type = family.name;
  family.describe(model);
  return model;
}

void judge_switch(const JsonReader& config, const Switch& one) {
  const std::string key(one.key);
  if (!config.has(key) || config.json()[key] == Json::parse(one.accepted)) return;
  config.violate(key, fmt::format("is {}: {} is not supported", config.json()[key].dump(), one.meaning),
                 "plan another network: with another value it would be one, too");
}

// Sizes of single blocks, which Transformers takes for any class: where nothing reads them the network would be another one.
void judge_layer_overrides(const JsonReader& config, const Family& family) {
  constexpr const char* kOverrides = "per_layer_config";
  const Json& json = config.json();
  if (!json.is_object() || !json.contains(kOverrides) || json[kOverrides].empty()) return;
  bool reads = false;
  each_key(family, [&](const Key& key) { reads |= key.field == KeyField(Part::Gemma4); });
  if (!reads)
    config.violate(kOverrides, "says sizes of single blocks: they are not supported in this family",
                   "plan another network: with the same sizes in all blocks it would be one, too");
}

// Of a class whose heads of keys are a number of their own: with other heads its network cannot be built.
void judge_kv_heads(const JsonReader& config, const Family& family, ModelConfig& model) {
  const std::string key(key_of(family.name, &ModelConfig::kv_heads).value_or("num_key_value_heads"));
  if (config.has(key) || model.kv_heads <= 0 || model.heads <= 0 || model.heads % model.kv_heads == 0) return;
  config.violate(
      key,
      fmt::format("is left out: {} are taken then, as the network's class does, which {} heads cannot share", model.kv_heads, model.heads),
      "write how many heads keys and values have");
  model.kv_heads = 0;
}

}  // namespace

ModelConfig read_by_family(const JsonReader& config, const Family& family, bool within) {
  ModelConfig model = described(family);
  take_class_sizes(model, within);
  each_key(family, [&](const Key& key) { std::visit(Reader(config, model, key, within), key.field); });
  judge_kv_heads(config, family, model);
  bool needs_ffn = false;
  each_key(family, [&](const Key& key) { needs_ffn |= key.use == KeyUse::Needed && key.field == KeyField(&ModelConfig::ffn); });
  const std::int64_t ffn = model.ffn;
  fill_sizes(model);
  if (needs_ffn) model.ffn = ffn;
  each_key(family, [&](const Key& key) {
    if (const Part* part = std::get_if<Part>(&key.field)) read_part(config, family, *part, model);
  });
  if (model.window == 0) model.local_rope_theta = model.local_rotary_share = 0;
  for (const Switch& one : family.switches) judge_switch(config, one);
  judge_layer_overrides(config, family);
  family.complete(model);
  return model;
}

std::vector<std::string> sizes_left_out(const JsonReader& config, const Family& family) {
  std::vector<std::string> names;
  each_key(family, [&](const Key& key) {
    const bool is_there = config.has(std::string(key.name)) || (!key.also.empty() && config.has(std::string(key.also)));
    if (key.use == KeyUse::Needed && !is_there) names.emplace_back(key.name);
  });
  return names;
}

Json write_by_family(const ModelConfig& model, const Family& family) {
  Json json = {{"model_type", model.model_type}};
  const ModelConfig usual = described(family);
  each_key(family, [&](const Key& key) {
    if (const Part* part = std::get_if<Part>(&key.field)) return write_part(json, family, *part, model);
    Json value = written(model, key.field);
    if (key.use != KeyUse::WhenOther || value != written(usual, key.field)) json[std::string(key.name)] = std::move(value);
  });
  return json;
}

std::vector<std::string> path_of_text(const Json& config) {
  const auto holds = [](const Json& json, const char* key) { return json.is_object() && json.contains(key) && json[key].is_object(); };
  if (holds(config, "thinker_config"))
    if (std::vector<std::string> deeper = path_of_text(config["thinker_config"]); !deeper.empty()) {
      deeper.insert(deeper.begin(), "thinker_config");
      return deeper;
    }
  for (const char* key : {"text_config", "llm_config", "language_config"})
    if (holds(config, key) && config[key].contains("model_type")) return {key};
  return {};
}

std::optional<bool> tied_around(const Json& config) {
  std::optional<bool> tied;
  const Json* around = &config;
  for (const std::string& key : path_of_text(config)) {
    if (const auto found = around->find(kTied); found != around->end() && found->is_boolean()) tied = found->get<bool>();
    around = &(*around)[key];
  }
  return tied;
}

}  // namespace sim
