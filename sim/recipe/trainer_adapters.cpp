// PEFT's pairs beside frozen products, as the Trainer's programs say them and have them by themselves.
// Facts: trl/trainer/model_config.py (use_peft, lora_*, use_bnb_nested_quant), transformers' BitsAndBytesConfig, peft's LoraConfig.
#include "sim/recipe/trainer_adapters.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "sim/recipe/accounting.h"
#include "sim/recipe/trainer.h"

namespace sim {
namespace {

bool has_on(const Draft& draft, const std::string& key) { return said(draft, key) != nullptr; }

// Product by product, as the networks of Transformers call them.
struct TargetName {
  std::string_view names;
  AdapterTarget target;
};
constexpr TargetName kTargetNames[] = {
    {"q_proj", AdapterTarget::Query},
    {"k_proj", AdapterTarget::Key},
    {"v_proj", AdapterTarget::Value},
    {"qkv_proj query_key_value c_attn Wqkv", AdapterTarget::Joint},
    {"o_proj dense out_proj", AdapterTarget::Output},
    {"gate_proj w1", AdapterTarget::Gate},
    {"up_proj w3 dense_h_to_4h fc1 c_fc", AdapterTarget::Up},
    {"gate_up_proj", AdapterTarget::Wide},
    {"down_proj w2 dense_4h_to_h fc2", AdapterTarget::Down},
};

Adapters with_all_targets(Adapters adapters, const ModelConfig& model) {
  using enum AdapterTarget;
  if (has_name("gpt2 gpt_neox falcon bloom mpt phi3", model.model_type))
    adapters = adapters.on(Joint);
  else
    adapters = adapters.on(Query).on(Key).on(Value);
  adapters = adapters.on(Output);
  if (model.experts) return adapters;
  if (model.model_type == "phi3") return adapters.on(Wide).on(Down);
  return (model.gated_mlp ? adapters.on(Gate).on(Up) : adapters.on(Up)).on(Down);
}

// "[q_proj, self_attn.v_proj]", "q_proj,v_proj", or a pattern that ends with "(up|down|q)_proj".
std::vector<std::string> named_targets(std::string text) {
  const std::size_t end = text.find(")_proj"), begin = text.rfind('(', end);
  const bool is_pattern = end != std::string::npos && begin != std::string::npos;
  if (is_pattern) text = text.substr(begin + 1, end - begin - 1);
  std::ranges::replace_if(
      text, [](char c) { return std::string_view("[],'\"|").find(c) != std::string_view::npos; }, ' ');
  std::vector<std::string> names = words_of(text);
  for (std::string& name : names) {
    for (const std::string_view before : {"self_attn.", "mlp."})
      if (name.starts_with(before)) name.erase(0, before.size());
    if (is_pattern) name += "_proj";
  }
  return names;
}

// Experts are no linear layers to PEFT; what stands beside them is.
void tell_products_left_out(Draft& draft) {
  if (draft.plan.model.experts)
    draft.lost.push_back(
        {"lora_target_modules",
         "all linear layers are asked for: shared experts, dense blocks and routers among them; the plan's pairs are beside attention",
         "mind their time and memory"});
}

Adapters with_targets(Adapters adapters, Draft& draft) {
  std::string text = text_of(draft, "lora_target_modules", "");
  if (has_on(draft, "lora_dim") && (text.empty() || text.find("layers") != std::string::npos))  // every product below that name
    return with_all_targets(adapters, draft.plan.model);
  const bool asks_for_all = has_name("all ALL all-linear all_linear", text) || has_on(draft, "lora_target_linear") ||
                            (text.empty() && (is_of_llama_factory(draft) || is_of_swift(draft)));
  if (asks_for_all) tell_products_left_out(draft);
  if (asks_for_all && text.empty() && !has_on(draft, "lora_target_linear"))
    draft.notes.push_back(
        {"lora_target_modules", "is not in the file: all linear layers are taken, as this program has by itself now", "name them, if not"});
  if (has_name("all ALL all-linear all_linear", text)) return with_all_targets(adapters, draft.plan.model);
  if (text.empty() && (is_of_llama_factory(draft) || is_of_swift(draft))) return with_all_targets(adapters, draft.plan.model);
  if (has_on(draft, "lora_target_linear")) adapters = with_all_targets(adapters, draft.plan.model);
  if (text.empty() && has_on(draft, "lora_target_linear")) return adapters;
  if (text.empty()) {
    draft.notes.push_back(
        {"lora_target_modules", "is not in the file: PEFT's usual ones are taken, q_proj and v_proj", "name them, if not"});
    return adapters.on(AdapterTarget::Query).on(AdapterTarget::Value);
  }
  for (const std::string& name : named_targets(std::move(text))) {
    const auto row = std::ranges::find_if(kTargetNames, [&](const TargetName& one) { return has_name(one.names, name); });
    if (row != std::end(kTargetNames))
      adapters = adapters.on(row->target);
    else
      draft.lost.push_back({"lora_target_modules", fmt::format("holds {}, which a plan has no word for", name), "mind what it trains"});
  }
  return adapters;
}

bool trains_adapters(const Draft& draft) {
  const std::string method = text_of(draft, "finetuning_type", text_of(draft, "adapter", ""));
  if (method == "full") return false;
  if (has_on(draft, "lora_dim")) return has_on(draft, "only_optimize_lora");
  if (is_of_axolotl(draft)) return is_on(method) || has_on(draft, "use_peft");
  if (is_of_swift(draft) && method.empty()) return true;                                                       // its default
  const bool asks_by_rank = has_on(draft, "lora_r") && !draft.said.contains("use_peft") && !is_of_trl(draft);  // which asks for use_peft
  return has_name("lora qlora", method) || has_on(draft, "use_peft") || asks_by_rank;
}

BaseFormat base_of(const Draft& draft) {
  const double bits = number_of(draft, "quantization_bit", 16);
  const bool four = has_on(draft, "load_in_4bit") || bits == 4, eight = has_on(draft, "load_in_8bit") || bits == 8;
  return four ? BaseFormat::Nf4 : eight ? BaseFormat::Int8 : BaseFormat::Weights;
}

// Scales of packed weights: packed again by themselves in LLaMA-Factory, Axolotl and ms-swift, as the plan has them; not in what PEFT is given elsewhere.
void tell_scales_of_base(Draft& draft) {
  constexpr std::string_view kSays[] = {"double_quantization", "use_nested_quant", "use_bnb_nested_quant", "bnb_4bit_use_double_quant",
                                        "bnb_config_kwargs.bnb_4bit_use_double_quant"};
  const bool is_said = std::ranges::any_of(kSays, [&](std::string_view key) { return draft.said.contains(std::string(key)); });
  if (is_of_axolotl(draft) && base_of(draft) == BaseFormat::Nf4 && text_of(draft, "adapter", "") == "lora")
    return draft.lost.push_back(
        {"load_in_4bit",
         "stands beside adapter: lora, and Axolotl says of qlora alone how weights are packed: scales stay in fp32, half a bit more a "
         "weight than the plan has, and products may be in fp32",
         "write adapter: qlora, or mind memory and time"});
  if (is_said || base_of(draft) != BaseFormat::Nf4 || is_of_llama_factory(draft) || is_of_axolotl(draft) || is_of_swift(draft)) return;
  draft.lost.push_back({"bnb_4bit_use_double_quant",
                        "is not in the file: scales of packed weights stay in fp32 unless the code packs them again, half a bit more a "
                        "weight than the plan has",
                        "mind memory"});
}

// LLaMA-Factory's freeze trains the last blocks and nothing else: no embedding, no head.
void settle_frozen_parts(Draft& draft) {
  ModelConfig& model = draft.plan.model;
  const auto trained = static_cast<std::int64_t>(number_of(draft, "freeze_trainable_layers", 2));
  if (trained < 1)
    return draft.wrong.push_back({"freeze_trainable_layers",
                                  fmt::format("is {}: trains the first blocks, and a plan freezes these", trained),
                                  "use a number of the last blocks"});
  if (text_of(draft, "freeze_trainable_modules", "all") != "all")
    draft.lost.push_back({"freeze_trainable_modules", "of these blocks some modules alone are trained; the plan trains them whole",
                          "mind that less is trained"});
  model.frozen = FrozenParts{.first = std::max<std::int64_t>(0, model.layers - trained)}.with(FrozenPart::Head).with(FrozenPart::Embedding);
}

}  // namespace

void settle_adapters(Draft& draft) {
  const std::string method = text_of(draft, "finetuning_type", text_of(draft, "adapter", "full"));
  if (method == "freeze") return settle_frozen_parts(draft);
  if (is_on(method) && !has_name("full lora qlora", method))
    return draft.wrong.push_back({"finetuning_type", method + ": no plan trains so", "use full, lora or freeze"});
  if (!trains_adapters(draft)) {
    if ((is_of_axolotl(draft) || is_of_trl(draft)) && has_on(draft, "lora_r"))
      draft.notes.push_back({"lora_r", "stands without what asks for pairs, and trains none: all weights are trained",
                             is_of_trl(draft) ? "add --use_peft" : "add adapter: lora"});
    if (has_on(draft, "lora_dim"))
      draft.lost.push_back(
          {"lora_dim", "pairs are trained beside all weights; the plan trains these alone", "mind the pairs' time and memory"});
    if (base_of(draft) != BaseFormat::Weights)
      draft.wrong.push_back({"load_in_4bit", "weights of fewer bits are frozen, and the file names no adapters beside them",
                             "use adapters, or weights of 16 bit"});
    return;
  }
  Adapters adapters;
  const bool by_peft = !is_of_llama_factory(draft) && !is_of_axolotl(draft) && !is_of_swift(draft);
  adapters.rank = static_cast<std::int64_t>(number_of(draft, "lora_r", number_of(draft, "lora_dim", by_peft ? 16 : 8)));
  if (!draft.said.contains("lora_r") && !draft.said.contains("lora_dim"))
    draft.notes.push_back({"lora_r",
                           fmt::format("is not in the file: a rank of {} is taken; a script of its own may have another", adapters.rank),
                           "write it"});
  const auto alpha = static_cast<std::int64_t>(number_of(draft, "lora_alpha",
                                                         static_cast<double>(is_of_llama_factory(draft)               ? 2 * adapters.rank
                                                                             : is_of_swift(draft) || is_of_trl(draft) ? 32
                                                                                                                      : 0)));
  adapters.alpha = alpha == adapters.rank ? 0 : alpha;
  adapters.dropout = std::clamp(number_of(draft, "lora_dropout", is_of_swift(draft) || is_of_trl(draft) ? 0.05 : 0), 0.0, 0.99);
  adapters.base = base_of(draft);
  tell_scales_of_base(draft);
  draft.plan.model.adapters = with_targets(adapters, draft);
}

// LLaMA-Factory's upcast_layernorm; PEFT's prepare_model_for_kbit_training, which TRL calls where weights are packed, as its own cast of modules to bf16 leaves it.
// Products of packed weights (bitsandbytes) put out the type that they read, so that behind such norms the stream is fp32, too.
void settle_norms(Draft& draft, bool is_sharded) {
  ParallelPlan& plan = draft.plan;
  const bool is_packed = plan.model.adapters && plan.model.adapters->base != BaseFormat::Weights, asks = has_on(draft, "upcast_layernorm");
  if (!is_sixteen_bit(plan.workload.precision.compute()) || !(asks || (is_packed && is_of_trl(draft)))) return;
  const ModelConfig& model = plan.model;
  const bool is_plain = model.norm_weight && model.norm_place == NormPlace::Before && !model.encoder && model.mtp_layers == 0;
  if (!model.adapters || is_sharded || plan.offload_parameters || !is_plain || plan.workload.precision.scales())
    return draft.lost.push_back({asks ? "upcast_layernorm" : "load_in_4bit",
                                 "keeps norms in fp32; the plan has that of frozen norms in front of halves of blocks, beside weights that "
                                 "stay whole",
                                 "mind the time of norms"});
  plan.workload.precision = plan.workload.precision.with(WideKind::Norms, Precision::Fp32);
  if (is_packed) plan.workload.precision = plan.workload.precision.with(WideKind::Stream, Precision::Fp32);
}

}  // namespace sim
