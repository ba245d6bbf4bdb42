#include <algorithm>
#include <array>

#include "sim/model/model_differences.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

constexpr std::array<std::string_view, 8> kOfTraining = {"embd_pdrop",           "resid_pdrop",       "attn_pdrop",
                                                         "attention_dropout",    "initializer_range", "router_aux_loss_coef",
                                                         "output_router_logits", "aux_loss_alpha"};

// Unscaled rotary positions are computed, however many there may be; others have weights, or stretch with their number.
bool counts_positions(const ModelConfig& config) {
  return config.position != Position::Rotary || config.rope_scaling.kind != RopeScalingKind::None;
}

ModelConfig trained_as(ModelConfig config, const ModelConfig& planned) {
  config.embedding_dropout = planned.embedding_dropout;
  config.residual_dropout = planned.residual_dropout;
  config.attention_dropout = planned.attention_dropout;
  config.initializer_range = planned.initializer_range;
  config.adapters = planned.adapters;
  config.frozen = planned.frozen;
  if (config.experts && planned.experts) config.experts->balance_loss = planned.experts->balance_loss;
  if (!counts_positions(config) && !counts_positions(planned)) config.max_positions = planned.max_positions;
  return config;
}

std::string text_of(const Json& json, const std::string& key) { return json.contains(key) ? json[key].dump() : "not there"; }

}  // namespace

std::vector<Violation> function_differences(const ModelConfig& planned, const ModelConfig& of_weights) {
  ModelConfig same = trained_as(of_weights, planned);
  same.model_type = planned.model_type;  // families that differ in name alone, as mistral and llama
  if (same == planned) return {};
  std::vector<Violation> found;
  const Json theirs = to_json(trained_as(of_weights, planned)), ours = to_json(planned);
  const auto name_difference = [&](const std::string& key) {
    if (text_of(theirs, key) == text_of(ours, key) || std::ranges::find(kOfTraining, key) != kOfTraining.end()) return;
    found.push_back({.where = key,
                     .problem = "the weights were made with " + text_of(theirs, key) + ", the plan's network has " + text_of(ours, key),
                     .remedy = "plan with the config.json of the weights"});
  };
  for (const auto& [key, value] : theirs.items()) name_difference(key);
  for (const auto& [key, value] : ours.items())
    if (!theirs.contains(key)) name_difference(key);
  if (found.empty())
    found.push_back(
        {.where = "model_type", .problem = "is of another network than the plan's", .remedy = "plan with the config.json of the weights"});
  return found;
}

}  // namespace sim
