// Facts: torch.distributed.fsdp.BackwardPrefetch.
#include "sim/recipe/fsdp_words.h"

#include <fmt/format.h>

#include <string>

#include "sim/recipe/accounting.h"

namespace sim {

// BACKWARD_PRE is its default, and what a plan gathers. The Trainer takes small letters.
void read_backward_prefetch(const Value& value, Draft&) {
  const std::string name = in_lower_case(value.text());
  if (name == "backward_post") return value.lost("gathers a unit behind the one before it: less memory", "mind that it waits longer");
  if (name == "no_prefetch" || !is_on(name))
    return value.lost("gathers nothing ahead in the backward; the plan gathers one unit",
                      "mind that it waits longer; \"prefetch\": 0 in the plan gathers nothing ahead in the forward, either");
  if (name != "backward_pre" && name != "auto")
    value.unknown(fmt::format("is {}, which no release has: taken as BACKWARD_PRE", shown(value.text())), "use BACKWARD_PRE");
}

void read_wrapping(const Value& value, Draft&) {
  constexpr std::string_view kPolicies = "transformer_based_wrap size_based_wrap no_wrap";
  const std::string policy = in_lower_case(value.text());
  if (!is_on(value.text()) || value.is_unknown()) return;
  if (!has_name(kPolicies, policy))
    value.wrong(fmt::format("is {}, which no release has", shown(value.text())), "use TRANSFORMER_BASED_WRAP");
  if (policy == "size_based_wrap")
    value.note(fmt::format("is {}: a plan gathers layer by layer", shown(value.text())), "use TRANSFORMER_BASED_WRAP");
}

void read_wrapping_of_trainer(const Value& value, Draft& draft) {
  if (value.key() == "fsdp.auto_wrap_policy") read_wrapping(value, draft);
}

void read_sharding_of_trainer(const Value& value, Draft&) {
  constexpr std::string_view kWays =
      "true false yes no on off full_shard shard_grad_op no_shard no_reshard hybrid_shard hybrid_shard_zero2 0 1 2 3 4 5";
  if (is_on(value.text()) && !value.is_unknown() && !has_name(kWays, in_lower_case(value.text())))
    value.wrong(fmt::format("is {}, which no release has", shown(value.text())),
                "use full_shard, shard_grad_op, or true or false of FSDP 2");
}

void settle_one_unit(Draft& draft, std::string_view setting) {
  draft.plan.layers_per_unit = static_cast<std::int32_t>(draft.plan.model.layers);
  draft.notes.push_back({std::string(setting), "wraps no layer by itself: the network is one unit there, and in the plan",
                         "wrap its blocks, which takes less memory"});
}

void settle_unit_of_accelerate(Draft& draft) {
  const std::string policy = in_lower_case(text_of(draft, "fsdp_config.fsdp_auto_wrap_policy", "no_wrap"));
  if (text_of(draft, "distributed_type", "") == "FSDP" && policy == "no_wrap") settle_one_unit(draft, "fsdp_config.fsdp_auto_wrap_policy");
}

void read_fsdp_of_trainer(const Value& value, Draft& draft) {
  if (value.key() == "use_fsdp" && is_on(value.text())) draft.is_fsdp_of_launcher = true;
}

}  // namespace sim
