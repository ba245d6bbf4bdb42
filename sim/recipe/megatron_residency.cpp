#include "sim/recipe/megatron_residency.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/recipe/megatron_words.h"

namespace sim {
namespace {

constexpr std::string_view kOffloads = "fine-grained-activation-offloading", kModules = "offload-modules",
                           kDefers = "defer-embedding-wgrad-compute";

}  // namespace

void read_offloaded_modules(const Value& v, Draft& d) {
  if (!flag_of(d, std::string(kOffloads), false)) return;
  auto [modules, others] = modules_in(v.text(), kSentToHost);
  d.plan.offload_modules = d.plan.offload_modules | modules;
  if (std::erase(others, "layer_input") > 0) d.plan.offload_activations = true;
  if (!others.empty())
    v.lost(fmt::format("holds {}, which a plan has no word for", fmt::join(others, " ")), "mind the memory of what they keep");
}

void read_least_on_host(const Value& v, Draft& d) {
  if (flag_of(d, std::string(kOffloads), false)) d.plan.offload_least = v.count();
}

Written least_on_host(const ParallelPlan& plan) {
  return written_if(!plan.offload_modules.none() && plan.offload_least != ParallelPlan().offload_least, std::to_string(plan.offload_least));
}

Written deferral_limit(const ParallelPlan& plan) {
  return written_if(plan.delay_head_wgrad > 0, std::to_string(plan.delay_head_wgrad < plan.num_microbatches() ? plan.delay_head_wgrad : 0));
}

void settle_residency(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  if (plan.recompute != Recompute::Full) plan.offload_activations = false;
  if (flag_of(draft, std::string(kDefers), false)) {
    const std::int64_t limit = size_said(draft, "wgrad-deferral-limit", 0);
    plan.delay_head_wgrad = static_cast<std::int32_t>(limit > 0 ? std::min(limit, kMostMicrobatches) : kMostMicrobatches);
  }
  for (const Violation& one : residency_violations(plan)) {
    const bool is_head = one.where == "/delay_head_wgrad";
    draft.lost.push_back({std::string(is_head ? kDefers : kModules), one.problem + "; the plan is without it", one.remedy});
    if (is_head)
      plan.delay_head_wgrad = 0;
    else
      plan.offload_modules = {};
  }
}

}  // namespace sim
