#include "sim/model/expert_form_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "sim/units/at.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

constexpr JsonReader::Range kCount = {0, 1e7};
constexpr std::int64_t kMostColumns = 100'000'000;  // of all experts of a layer: every number of parameters fits 63 bits then

// Of each layer the same (Hunyuan).
bool is_one_number(const Json& list) {
  return list.is_array() && !list.empty() && list[0].is_number_integer() &&
         std::ranges::all_of(list, [&](const Json& one) { return one == list[0]; });
}

// Hunyuan writes false where there is none.
bool is_said(const JsonReader& config, const std::string& name) { return config.has(name) && config.json()[name] != false; }

std::int64_t count_of(const JsonReader& config, std::initializer_list<const char*> names, std::int64_t otherwise) {
  for (const char* name : names) {
    if (!is_said(config, name)) continue;
    if (!config.json()[name].is_array()) return config.integer(name, otherwise, kCount);
    if (is_one_number(config.json()[name]))
      return std::clamp<std::int64_t>(config.integers(name).front(), 0, static_cast<std::int64_t>(kCount.high));
    config.violate(name, "is a list of other things than one whole number for all layers: layers whose experts differ are not supported",
                   "plan another network: with one number it would be one, too");
    return otherwise;
  }
  return otherwise;
}

const char* key_of_score(const JsonReader& config) {
  for (const char* key : {"moe_router_activation_func", "score_function"})
    if (config.has(key)) return key;
  return "scoring_func";
}

void read_router(const JsonReader& config, ExpertForm& form) {
  form.score = static_cast<RouterScore>(config.choice(key_of_score(config), kRouterScoreNames, static_cast<std::size_t>(form.score)));
  form.renormalised = config.boolean(config.has("moe_renormalize") ? "moe_renormalize" : "norm_topk_prob", form.renormalised);
  for (const char* name : {"routed_scaling_factor", "route_scale", "router_scaling_factor", "moe_routed_scaling_factor"})
    if (is_said(config, name)) form.scaling = config.number(name, form.scaling, {1e-6, 1e6});
  const double balance = config.number("router_aux_loss_coef", 0.001, {0, 1e3});
  if (config.boolean("output_router_logits", false)) form.balance_loss = balance;
  const bool is_greedy = config.text("topk_method", "") == "greedy";  // of all experts, whatever the groups
  form.groups = is_greedy ? 1 : count_of(config, {"n_group", "num_expert_group"}, 1);
  form.group_topk = is_greedy ? 1 : count_of(config, {"topk_group"}, 1);
  if (form.groups < 1 || form.experts % form.groups != 0) config.violate("n_group", "does not divide the experts", "correct it");
  if (form.group_topk < 1 || form.group_topk > form.groups) config.violate("topk_group", "is not between 1 and n_group", "correct it");
}

// One by one: "dense" or "sparse".
void read_layer_types(const JsonReader& config, ExpertForm& form) {
  const Json& types = config.json()["mlp_layer_types"];
  form.first_dense_layers = 0;
  std::int64_t layer = 0;
  for (const Json& type : types.is_array() ? types : Json::array()) {
    if (type == "dense" && layer == form.first_dense_layers)
      ++form.first_dense_layers;
    else if (type == "dense")
      form.dense_layers.push_back(layer);
    else if (type != "sparse")
      config.violate("mlp_layer_types", "names a layer that is neither dense nor sparse", "correct it");
    ++layer;
  }
}

// Which layers have experts.
void read_layers(const JsonReader& config, ExpertForm& form) {
  form.first_dense_layers =
      count_of(config, {"first_k_dense_replace", "num_dense_layers", "moe_layer_start_index"}, form.first_dense_layers);
  form.every =
      std::max<std::int64_t>(1, count_of(config, {"decoder_sparse_step", "moe_layer_interval", "expert_layer_period"}, form.every));
  if (const std::int64_t offset = count_of(config, {"expert_layer_offset"}, form.every - 1); offset != form.every - 1)
    config.violate("expert_layer_offset",
                   fmt::format("is {}, of a period of {}: experts stand in the last layer of a period", offset, form.every),
                   "plan a network that has them there");
  if (config.has("mlp_only_layers")) form.dense_layers = config.integers("mlp_only_layers");
  const std::int64_t layers = std::min<std::int64_t>(count_of(config, {"num_hidden_layers"}, 0), 10'000),
                     last = config.has("moe_layer_end_index") ? config.integer("moe_layer_end_index", -1, {-1, 1e7}) : -1;
  for (std::int64_t layer = last + 1; last >= 0 && layer < layers; ++layer) form.dense_layers.push_back(layer);
  if (config.has("mlp_layer_types")) read_layer_types(config, form);
  if (count_of(config, {"moe_layer_freq"}, 1) != 1) config.violate("moe_layer_freq", "is not 1: it is not supported", "set it to 1");
}

// What the family's own class reads: of how many there are, how many a token has, how many all share, what multiplies their output, and which layers have
// none: their number, or a list of all layers.
struct ExpertKeys {
  std::string_view family;  // or its beginning
  const char *experts, *topk = "num_experts_per_tok", *shared = "n_shared_experts", *scale = "routed_scaling_factor",
                       *dense = "first_k_dense_replace";
};
constexpr std::string_view kListOfLayers = "mlp_layer_types";
constexpr ExpertKeys kKeysOfExperts[] = {
    {"mixtral", "num_local_experts"},
    {"gpt_oss", "num_local_experts"},
    {"granite", "num_local_experts"},
    {"minimax", "num_local_experts"},
    {"phimoe", "num_local_experts"},
    {"mellum", "num_local_experts"},
    {"kolibri", "num_local_experts"},
    {"laguna", "num_experts", "num_experts_per_tok", "n_shared_experts", "moe_routed_scaling_factor", "mlp_layer_types"},
    {"mimo_v2", "n_routed_experts", "num_experts_per_tok", "n_shared_experts", "routed_scaling_factor", "mlp_layer_types"},
    {"afmoe", "num_experts", "num_experts_per_tok", "num_shared_experts", "route_scale", "num_dense_layers"},
    {"deepseek", "n_routed_experts"},
    {"kimi_k2", "n_routed_experts"},
    {"glm4_moe", "n_routed_experts"},
    {"glm4v_moe", "n_routed_experts"},
    {"nemotron_h", "n_routed_experts"},
    {"dots1", "n_routed_experts"},
    {"solar_open", "n_routed_experts"},
    {"ernie4_5_moe", "moe_num_experts", "moe_k", "moe_num_shared_experts"},
    {"aria", "moe_num_experts", "moe_topk", "moe_num_shared_experts"},
    {"hunyuan", "num_experts", "moe_topk", "num_shared_expert"},
    {"", "num_experts"}};

const ExpertKeys& keys_of_experts(const std::string& family) {
  return *std::ranges::find_if(kKeysOfExperts, [&](const ExpertKeys& keys) { return family.starts_with(keys.family); });
}

const char* key_of_shared(const std::string& family) {
  if (family == "nemotron_h") return "moe_shared_expert_intermediate_size";
  return family.starts_with("granite") ? "shared_intermediate_size" : "shared_expert_intermediate_size";
}

}  // namespace

std::optional<ExpertForm> read_experts(const JsonReader& config, DenseWidth ffn, ExpertForm form) {
  form.experts = count_of(config, {"num_local_experts", "n_routed_experts", "num_experts", "moe_num_experts"}, 0);
  if (form.experts <= 1) return std::nullopt;
  form.topk = count_of(config, {"num_experts_per_tok", "num_selected_experts", "num_experts_per_token", "moe_topk", "moe_k"}, 2);
  form.expert_ffn = count_of(config, {"moe_intermediate_size"}, ffn.value);
  form.shared_experts =
      count_of(config, {"n_shared_experts", "num_shared_experts", "moe_num_shared_experts", "num_shared_expert"}, form.shared_experts);
  form.shared_ffn = count_of(config, {"shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", "shared_intermediate_size"},
                             form.shared_experts * form.expert_ffn);
  read_layers(config, form);
  form.capacity_factor = config.number("expert_capacity_factor", 0, {0, 1e3});
  form.dispatch = static_cast<ExpertDispatch>(config.choice("expert_dispatch", kExpertDispatchNames, 0));
  form.forced_balance = config.boolean("expert_balance_forced", false);
  read_router(config, form);
  if (form.topk < 1 || form.topk > form.experts)
    config.violate("num_experts_per_tok", "is not between 1 and the number of experts", "correct it");
  if (form.experts > kMostColumns / std::max<std::int64_t>(1, form.expert_ffn))
    config.violate("num_experts", "times the width of an expert is above 10^8", "correct them");
  if (form.expert_ffn < 1) config.violate("moe_intermediate_size", "is missing", "add it");
  return form;
}

void read_corrected_scores(const JsonReader& config, std::optional<ExpertForm>& form) {
  const bool usual = form && form->score_correction;
  const bool corrects = config.boolean(config.has("use_expert_bias") ? "use_expert_bias" : "moe_router_enable_expert_bias", usual);
  if (form) form->score_correction = corrects;
}

void write_corrected_scores(Json& config, const std::optional<ExpertForm>& form) {
  const bool is_lfm2 = config.value("model_type", "").starts_with("lfm2");
  config[is_lfm2 ? "use_expert_bias" : "moe_router_enable_expert_bias"] = form && form->score_correction;
}

namespace {

void write_dense_layers(Json& config, const ExpertForm& form, const char* key) {
  if (key == kListOfLayers) {
    Json& types = config[key] = Json::array();
    for (std::int64_t layer = 0; layer < config["num_hidden_layers"].get<std::int64_t>(); ++layer)
      types.push_back(form.has_experts(layer) ? "sparse" : "dense");
    return;
  }
  config[key] = form.first_dense_layers;
  if (!form.dense_layers.empty()) config["mlp_only_layers"] = form.dense_layers;
}

}  // namespace

void write_experts(Json& config, const ExpertForm& form) {
  const ExpertKeys& keys = keys_of_experts(config.value("model_type", ""));
  config[keys.experts] = form.experts;
  config[keys.topk] = form.topk;
  config["moe_intermediate_size"] = form.expert_ffn;
  config[keys.shared] = form.shared_experts;
  config[key_of_shared(config.value("model_type", ""))] = form.shared_ffn;
  write_dense_layers(config, form, keys.dense);
  config["expert_capacity_factor"] = form.capacity_factor;
  config["expert_dispatch"] = std::string(sim::at(kExpertDispatchNames, form.dispatch));
  config["expert_balance_forced"] = form.forced_balance;
  config["scoring_func"] = std::string(sim::at(kRouterScoreNames, form.score));
  config["norm_topk_prob"] = form.renormalised;
  config[keys.scale] = form.scaling;
  config["router_aux_loss_coef"] = form.balance_loss;
  config["output_router_logits"] = form.balance_loss > 0;
  if (form.groups > 1) config["n_group"] = form.groups, config["topk_group"] = form.group_topk;
  if (form.every > 1) config["decoder_sparse_step"] = form.every;
}

}  // namespace sim
