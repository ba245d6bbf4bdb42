#include "sim/recipe/megatron_adapters.h"

#include <algorithm>

#include "sim/recipe/accounting.h"

namespace sim {
namespace {

struct CoreTarget {
  std::string_view names;
  AdapterTarget target;
};
constexpr CoreTarget kCoreTargets[] = {{"linear_qkv query_key_value", AdapterTarget::Joint},
                                       {"linear_q", AdapterTarget::Query},
                                       {"linear_k", AdapterTarget::Key},
                                       {"linear_v", AdapterTarget::Value},
                                       {"linear_proj o_proj dense", AdapterTarget::Output},
                                       {"linear_fc1 gate_proj dense_h_to_4h", AdapterTarget::Wide},
                                       {"linear_fc2 down_proj dense_4h_to_h", AdapterTarget::Down}};

void take_target(const std::string& name, Adapters& adapters, Draft& draft) {
  const auto row = std::ranges::find_if(kCoreTargets, [&](const CoreTarget& one) { return has_name(one.names, name); });
  const ModelConfig& model = draft.plan.model;
  const bool is_of_mlp = row != std::end(kCoreTargets) && (row->target == AdapterTarget::Wide || row->target == AdapterTarget::Down);
  if (row == std::end(kCoreTargets) || (is_of_mlp && model.experts))
    return draft.lost.push_back({"target-modules", name + ": a plan has no pairs there", "mind their time and memory"});
  adapters = adapters.on(row->target == AdapterTarget::Wide && !model.gated_mlp ? AdapterTarget::Up : row->target);
}

}  // namespace

void settle_adapters_of_megatron(Draft& draft) {
  const std::string kind = text_of(draft, "tuner-type", draft.said.contains("lora-rank") ? "lora" : "full");
  if (kind == "full" || Value({"tuner-type", kind}, draft).is_unknown()) return;
  if (kind != "lora") return draft.wrong.push_back({"tuner-type", kind + ": no plan trains so", "use full or lora"});
  Adapters adapters;
  adapters.rank = std::max<std::int64_t>(1, static_cast<std::int64_t>(number_of(draft, "lora-rank", 8)));
  const auto alpha = static_cast<std::int64_t>(number_of(draft, "lora-alpha", 32));
  adapters.alpha = alpha == adapters.rank ? 0 : alpha;
  const double usual = draft.said.contains("tuner-type") ? 0.05 : 0;  // ms-swift's; MindSpeed has none
  adapters.dropout = std::clamp(number_of(draft, "lora-dropout", usual), 0.0, 0.99);
  std::string names = text_of(draft, "target-modules", "all-linear");
  std::ranges::replace_if(
      names, [](char c) { return std::string_view("[],'\"").find(c) != std::string_view::npos; }, ' ');
  if (has_name("all-linear all_linear", words_of(names).empty() ? "" : words_of(names).front()))
    names = "linear_qkv linear_proj linear_fc1 linear_fc2";
  for (const std::string& name : words_of(names)) take_target(name, adapters, draft);
  draft.plan.model.adapters = adapters;
}

}  // namespace sim
