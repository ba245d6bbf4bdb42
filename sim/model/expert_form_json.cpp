#include "sim/model/expert_form_json.h"

#include <algorithm>
#include <initializer_list>

#include "sim/units/json_reader.h"

namespace sim {
namespace {

constexpr JsonReader::Range kCount = {0, 1e7};
constexpr std::int64_t kMostColumns = 100'000'000;  // of all experts of a layer: every number of parameters fits 63 bits then

std::int64_t count_of(const JsonReader& config, std::initializer_list<const char*> names, std::int64_t otherwise) {
  for (const char* name : names)
    if (config.has(name) && config.json()[name].is_number_integer()) return config.integer(name, otherwise, kCount);
  return otherwise;
}

// What the family's own configuration class says where the file is silent. Mixtral has no key for it.
void read_router(const JsonReader& config, ExpertForm& form) {
  const std::string family = config.text("model_type", "");
  const bool is_v3 = family == "deepseek_v3", is_mixtral = family == "mixtral";
  form.score = static_cast<RouterScore>(config.choice("scoring_func", kRouterScoreNames, is_v3 ? 1 : 0));
  form.renormalised = is_mixtral || config.boolean("norm_topk_prob", is_v3);
  form.scaling = config.number("routed_scaling_factor", is_v3 ? 2.5 : 1, {1e-6, 1e6});
  const double balance = config.number("router_aux_loss_coef", 0.001, {0, 1e3});
  if (config.boolean("output_router_logits", false)) form.balance_loss = balance;
}

// What the family's own class reads.
const char* key_of_experts(const std::string& family) {
  if (family == "mixtral") return "num_local_experts";
  return family.starts_with("deepseek") ? "n_routed_experts" : "num_experts";
}

}  // namespace

std::optional<ExpertForm> read_experts(const JsonReader& config, DenseWidth ffn) {
  ExpertForm form;
  form.experts = count_of(config, {"num_local_experts", "n_routed_experts", "num_experts"}, 0);
  if (form.experts <= 1) return std::nullopt;
  form.topk = count_of(config, {"num_experts_per_tok", "num_selected_experts"}, 2);
  form.expert_ffn = count_of(config, {"moe_intermediate_size"}, ffn.value);
  form.shared_experts = count_of(config, {"n_shared_experts"}, 0);
  form.shared_ffn = count_of(config, {"shared_expert_intermediate_size"}, form.shared_experts * form.expert_ffn);
  form.first_dense_layers = count_of(config, {"first_k_dense_replace"}, 0);
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

void write_experts(Json& config, const ExpertForm& form) {
  config[key_of_experts(config.value("model_type", ""))] = form.experts;
  config["num_experts_per_tok"] = form.topk;
  config["moe_intermediate_size"] = form.expert_ffn;
  config["n_shared_experts"] = form.shared_experts;
  config["shared_expert_intermediate_size"] = form.shared_ffn;
  config["first_k_dense_replace"] = form.first_dense_layers;
  config["expert_capacity_factor"] = form.capacity_factor;
  config["expert_dispatch"] = std::string(kExpertDispatchNames[static_cast<std::size_t>(form.dispatch)]);
  config["expert_balance_forced"] = form.forced_balance;
  config["scoring_func"] = std::string(kRouterScoreNames[static_cast<std::size_t>(form.score)]);
  config["norm_topk_prob"] = form.renormalised;
  config["routed_scaling_factor"] = form.scaling;
  config["router_aux_loss_coef"] = form.balance_loss;
  config["output_router_logits"] = form.balance_loss > 0;
}

}  // namespace sim
