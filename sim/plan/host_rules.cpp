// What may wait on the host for a backward.
#include <fmt/format.h>

#include "sim/plan/rules.h"
#include "sim/units/at.h"

namespace sim {

void check_inputs_on_host(const ParallelPlan& plan, Rules& rules) {
  rules.must(!plan.offload_activations || plan.recompute == Recompute::Full, "/offload_activations",
             fmt::format("sends the inputs of recomputed blocks to the host, but with recompute {} blocks keep more than that",
                         sim::at(kRecomputeNames, plan.recompute)),
             "use recompute full or offload_modules, or leave it out");
  const auto needs = [&](bool holds, const std::string& problem, const char* remedy) {
    rules.must(plan.offload_modules.none() || holds, "/offload_modules", problem, remedy);
  };
  const ModelConfig& model = plan.model;
  needs(plan.recompute != Recompute::Full,
        "sends what modules have saved to the host, but with recompute full blocks keep their inputs alone",
        "use offload_activations=true, or recompute none or selective");
  needs(!plan.offload_modules.has(Module::AttentionProjection) || plan.offload_modules.has(Module::CoreAttention),
        "sends the input of attn_proj to the host, and core_attn keeps it on the device, where it has put it out", "name core_attn, too");
  needs(!plan.offload_modules.has(Module::Mlp) || !plan.recomputed_modules().has(Module::Mlp),
        "sends what mlp keeps to the host, and recomputes it", "name mlp in one of them");
  needs(plan.offload_blocks >= 0, fmt::format("is of {} blocks", plan.offload_blocks), "use offload_blocks=0, for all, or more");
  needs(plan.offload_least >= 0, fmt::format("has tensors of {} elements or more", plan.offload_least), "use offload_least=0 or more");
  needs(plan.zero_stage < 3, "is not lowered beside units of stage 3", "use zero=2 or less");
  needs(plan.slices == 1, "is not lowered for slices of a sample", "use slices=1");
  needs(!model.convolution && !model.encoder && !model.linear && !model.attention.is_sparse(),
        "is known of blocks that attend to all tokens of one text", "leave it out");
  needs(!model.parallel_blocks && model.norm_place == NormPlace::Before, "is known of blocks with a norm in front of each half",
        "leave it out");
  needs(!model.frozen.any() && !model.adapters, "is known of blocks that are trained whole", "leave it out");
  needs(plan.workload.precision.full_blocks().empty(), "is of one type, and some blocks are in full precision", "leave these out");
}

std::vector<Violation> residency_violations(const ParallelPlan& plan) {
  Rules rules;
  check_inputs_on_host(plan, rules);
  check_delayed_head(plan, rules);
  return std::move(rules).take();
}

}  // namespace sim
