#include "sim/recipe/megatron_residency.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/recipe/megatron_words.h"

namespace sim {
namespace {

constexpr std::string_view kOffloads = "fine-grained-activation-offloading", kModules = "offload-modules",
                           kDefers = "defer-embedding-wgrad-compute";
constexpr std::int64_t kMostBlocks = 1'000'000;

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

bool sends_blocks(const ParallelPlan& plan) { return plan.offload_blocks > 0 && plan.offload_modules == kSentToHost; }

namespace {

// TransformerBlock saves what the first blocks keep for the host (Transformer Engine, get_cpu_offload_context), whatever its size. The layers that are left cover
// the copies, so Megatron-Core asks for fewer than all.
void settle_blocks_on_host(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  if (!flag_of(draft, "cpu-offloading", false) || !flag_of(draft, "cpu-offloading-activations", true)) return;
  plan.offload_blocks =
      static_cast<std::int32_t>(std::clamp<std::int64_t>(size_said(draft, "cpu-offloading-num-layers", 0), 0, kMostBlocks));
  if (plan.offload_blocks == 0) return;
  plan.offload_modules = kSentToHost;
  plan.offload_least = 0;
  if (plan.mesh.pipeline > 1 || plan.recompute != Recompute::None)
    draft.unknown.push_back({"cpu-offloading", "stands beside stages or recomputation, with which Megatron-Core refuses it",
                             "leave these out, or --cpu-offloading"});
}

}  // namespace

Written deferral_limit(const ParallelPlan& plan) {
  return written_if(plan.delay_head_wgrad > 0, std::to_string(plan.delay_head_wgrad < plan.num_microbatches() ? plan.delay_head_wgrad : 0));
}

void settle_residency(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  if (plan.recompute != Recompute::Full) plan.offload_activations = false;
  settle_blocks_on_host(draft);
  if (flag_of(draft, std::string(kDefers), false)) {
    const std::int64_t limit = size_said(draft, "wgrad-deferral-limit", 0);
    plan.delay_head_wgrad = static_cast<std::int32_t>(limit > 0 ? std::min(limit, kMostMicrobatches) : kMostMicrobatches);
  }
  for (const Violation& one : residency_violations(plan)) {
    const bool is_head = one.where == "/delay_head_wgrad";
    draft.lost.push_back({std::string(is_head              ? kDefers
                                      : sends_blocks(plan) ? "cpu-offloading"
                                                           : kModules),
                          one.problem + "; the plan is without it", one.remedy});
    if (is_head)
      plan.delay_head_wgrad = 0;
    else
      plan.offload_modules = {}, plan.offload_blocks = 0, plan.offload_least = ParallelPlan().offload_least;
  }
}

}  // namespace sim
