#include "sim/model/rope_scaling_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/units/at.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

constexpr JsonReader::Range kAboveZero = {1e-30, 1e30};
constexpr JsonReader::Range kZeroOrMore = {0, 1e30};
constexpr JsonReader::Range kPositions = {1, 1e9};

// Transformers has written the method under two names, and called LongRope "su" at first. Three axes of images (mrope) are one of the text beside them, unscaled.
RopeScalingKind kind_of(const JsonReader& rope, const ModelConfig& model) {
  const char* key = rope.has("rope_type") ? "rope_type" : "type";
  if (rope.text(key, "default") == "su") return RopeScalingKind::LongRope;
  if (model.model_type.ends_with("_text") && rope.text(key, "default") == "mrope") return RopeScalingKind::None;
  return static_cast<RopeScalingKind>(rope.choice(key, kRopeScalingNames, 0));
}

std::vector<double> read_factors(const JsonReader& rope, const std::string& key, std::int64_t pairs) {
  std::vector<double> factors;
  const Json* list = rope.has(key) ? &rope.json()[key] : nullptr;
  if (list != nullptr && list->is_array())
    for (const Json& factor : *list)
      if (factor.is_number() && std::isfinite(factor.get<double>()) && factor.get<double>() > 0) factors.push_back(factor.get<double>());
  if (list == nullptr || factors.size() != list->size() || static_cast<std::int64_t>(factors.size()) != pairs)
    rope.violate(key, fmt::format("is no list of {} positive numbers, one for each pair that turns", pairs), "correct it");
  return factors;
}

bool has_original_positions(RopeScalingKind kind) {
  return kind == RopeScalingKind::Yarn || kind == RopeScalingKind::Llama3 || kind == RopeScalingKind::LongRope;
}

void read_method(const JsonReader& rope, const ModelConfig& model, RopeScaling& scaling) {
  switch (scaling.kind) {
    case RopeScalingKind::Yarn:
      scaling.beta_fast = rope.number("beta_fast", scaling.beta_fast, kAboveZero);
      scaling.beta_slow = rope.number("beta_slow", scaling.beta_slow, kAboveZero);
      scaling.mscale = rope.number("mscale", 0, kZeroOrMore);
      scaling.mscale_all_dim = rope.number("mscale_all_dim", 0, kZeroOrMore);
      scaling.truncate = rope.boolean("truncate", true);
      break;
    case RopeScalingKind::Llama3:
      scaling.low_frequency = rope.number("low_freq_factor", {}, kAboveZero);
      scaling.high_frequency = rope.number("high_freq_factor", {}, kAboveZero);
      break;
    case RopeScalingKind::LongRope:
      scaling.short_factor = read_factors(rope, "short_factor", rotary_width(model) / 2);
      scaling.long_factor = read_factors(rope, "long_factor", rotary_width(model) / 2);
      break;
    case RopeScalingKind::Proportional: scaling.share = rope.number("partial_rotary_factor", scaling.share, {0.01, 1}); break;
    default: break;
  }
}

RopeScaling read_scaling(const JsonReader& config, const JsonReader& rope, const ModelConfig& model) {
  RopeScaling scaling;
  scaling.kind = kind_of(rope, model);
  if (scaling.kind == RopeScalingKind::None) return scaling;
  if (has_original_positions(scaling.kind)) {
    const std::string key = "original_max_position_embeddings";
    const JsonReader& where = rope.has(key) ? rope : config;  // Phi-3 has it beside the method
    scaling.original_positions = where.integer(key, model.max_positions, kPositions);
    scaling.attention_factor = rope.number("attention_factor", 0, kZeroOrMore);
  }
  const double before = static_cast<double>(std::max<std::int64_t>(1, scaling.original_positions));
  const double stretched = std::max(1.0, static_cast<double>(model.max_positions) / before);
  const bool may_be_left_out =
      scaling.kind == RopeScalingKind::Yarn || scaling.kind == RopeScalingKind::LongRope || scaling.kind == RopeScalingKind::Proportional;
  scaling.factor = rope.number("factor", may_be_left_out ? std::optional(stretched) : std::nullopt, kAboveZero);
  read_method(rope, model, scaling);
  return scaling;
}

void read_rotary_of_windows(const JsonReader& rope, ModelConfig& model) {
  model.local_rope_theta = rope.number("rope_theta", model.local_rope_theta, kAboveZero);
  if (model.local_rotary_share > 0) model.local_rotary_share = rope.number("partial_rotary_factor", model.local_rotary_share, {0.01, 1});
}

// Of classes that read it by kind of layer alone.
void write_rotary_by_kind(Json& config, const ModelConfig& model) {
  Json scaled = Json::object();
  write_rope_scaling(scaled, model.rope_scaling);
  Json whole = scaled.value("rope_scaling", Json{{"rope_type", "default"}});
  whole["rope_theta"] = model.rope_theta;
  if (model.rope_scaling.kind != RopeScalingKind::Proportional) whole["partial_rotary_factor"] = model.rotary_share;
  const Json windowed = {
      {"rope_type", "default"}, {"rope_theta", model.local_rope_theta}, {"partial_rotary_factor", model.local_rotary_share}};
  config["rope_parameters"] = {{"full_attention", std::move(whole)}, {"sliding_attention", windowed}};
}

}  // namespace

// GPT-NeoX has another name for the base; Gemma 3 has a second one for blocks with a window, or all of it by kind of layer.
void read_rotary(const JsonReader& config, ModelConfig& model) {
  const std::string base = config.has("rotary_emb_base") ? "rotary_emb_base" : "rope_theta";
  model.rope_theta = config.number(base, model.rope_theta, kAboveZero);
  if (model.local_rope_theta > 0 || config.has("rope_local_base_freq"))
    model.local_rope_theta = config.number("rope_local_base_freq", model.local_rope_theta, kAboveZero);
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    if (!config.has(key)) continue;
    const JsonReader all = config.child(key);
    const JsonReader rope = all.has("full_attention") ? all.child("full_attention") : all;
    if (!config.has(base)) model.rope_theta = rope.number("rope_theta", model.rope_theta, kAboveZero);
    if (!config.has("partial_rotary_factor") && rope.has("partial_rotary_factor") && kind_of(rope, model) != RopeScalingKind::Proportional)
      model.rotary_share = rope.number("partial_rotary_factor", {}, {0.01, 1});
    if (all.has("sliding_attention")) read_rotary_of_windows(all.child("sliding_attention"), model);
    model.rope_scaling = read_scaling(config, rope, model);
    return;
  }
}

void write_rotary(Json& config, const ModelConfig& model) {
  if (model.local_rotary_share > 0) return write_rotary_by_kind(config, model);
  config["rope_theta"] = model.rope_theta;
  if (model.local_rope_theta > 0) config["rope_local_base_freq"] = model.local_rope_theta;
  write_rope_scaling(config, model.rope_scaling);
}

void write_rope_scaling(Json& config, const RopeScaling& scaling) {
  if (scaling.kind == RopeScalingKind::None) return;
  Json rope = {{"rope_type", std::string(sim::at(kRopeScalingNames, scaling.kind))}, {"factor", scaling.factor}};
  if (has_original_positions(scaling.kind)) rope["original_max_position_embeddings"] = scaling.original_positions;
  if (scaling.attention_factor > 0) rope["attention_factor"] = scaling.attention_factor;
  if (scaling.kind == RopeScalingKind::Yarn) {
    rope["beta_fast"] = scaling.beta_fast;
    rope["beta_slow"] = scaling.beta_slow;
    if (scaling.mscale > 0) rope["mscale"] = scaling.mscale;
    if (scaling.mscale_all_dim > 0) rope["mscale_all_dim"] = scaling.mscale_all_dim;
    rope["truncate"] = scaling.truncate;
  }
  if (scaling.kind == RopeScalingKind::Proportional) rope["partial_rotary_factor"] = scaling.share;
  if (scaling.kind == RopeScalingKind::Llama3) {
    rope["low_freq_factor"] = scaling.low_frequency;
    rope["high_freq_factor"] = scaling.high_frequency;
  }
  if (scaling.kind == RopeScalingKind::LongRope) {
    rope["short_factor"] = scaling.short_factor;
    rope["long_factor"] = scaling.long_factor;
  }
  config["rope_scaling"] = std::move(rope);
}

}  // namespace sim
