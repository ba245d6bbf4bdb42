#include "sim/plan/field_uses.h"

#include <algorithm>
#include <array>

namespace sim {
namespace {

using Plan = ParallelPlan;

bool is_sharded(const Plan& plan) { return plan.zero_stage == 3; }
bool has_copies(const Plan& plan) { return plan.mesh.copies() > 1; }
bool has_experts(const Plan& plan) { return plan.model.experts.has_value(); }
bool moves_tokens(const Plan& plan) { return has_experts(plan) && plan.mesh.moves_tokens(); }
bool exchanges_tokens(const Plan& plan) { return has_experts(plan) && plan.mesh.expert > 1; }
bool has_stages(const Plan& plan) { return plan.mesh.pipeline > 1; }
bool has_buckets(const Plan& plan) { return !is_sharded(plan) && has_copies(plan); }
bool takes_groups(const Plan& plan) {
  const Schedule* schedule = find_schedule(plan.schedule);
  return has_stages(plan) && schedule != nullptr && schedule->takes_groups;
}

struct Use {
  std::string_view field;
  bool (*is_there)(const Plan&);
};
// Fields without a row always have one.
constexpr std::array kUses = std::to_array<Use>({
    {"replicas", has_copies},
    {"expert", has_experts},
    {"expert_loads", has_experts},
    {"expert_tensor", has_experts},
    {"token_dispatcher", moves_tokens},
    {"expert_overlap", exchanges_tokens},
    {"reshard_ranks", is_sharded},
    {"context_algorithm", [](const Plan& plan) { return plan.mesh.context > 1; }},
    {"context_inner", [](const Plan& plan) { return plan.context_algorithm == ContextAlgorithm::Hierarchical; }},
    {"mtp_apart", [](const Plan& plan) { return plan.model.mtp_layers > 0; }},
    {"schedule", [](const Plan& plan) { return has_stages(plan) || plan.num_microbatches() > 1; }},  // of one stage: what stays alive
    {"chunks", has_stages},
    {"passes", has_stages},
    {"microbatch_group", takes_groups},
    {"reshard", is_sharded},
    {"reshard_after_backward", [](const Plan& plan) { return is_sharded(plan) && plan.num_microbatches() > 1; }},
    {"prefetch", is_sharded},
    {"kept_until", [](const Plan& plan) { return is_sharded(plan) && plan.mesh.reshard > 1; }},
    {"persistence_threshold", is_sharded},
    {"layers_per_unit", is_sharded},
    {"bucket_size", has_buckets},
    {"first_bucket_size", has_buckets},
    {"offload_parameters", is_sharded},
    {"accumulation", [](const Plan& plan) { return plan.num_microbatches() > 1 && (has_copies(plan) || plan.offload_parameters); }},
    {"sequence_parallel", [](const Plan& plan) { return plan.mesh.tensor > 1; }},
    {"graph_scope", [](const Plan& plan) { return plan.cuda_graphs == CudaGraphs::PerLayer; }},
    {"tensor_overlap", [](const Plan& plan) { return plan.mesh.tensor > 1; }},
    {"recompute_scope", [](const Plan& plan) { return plan.recompute != Recompute::None; }},
    {"on_drive", [](const Plan& plan) { return is_sharded(plan) && plan.offload_optimizer; }},
    {"offload_share", [](const Plan& plan) { return plan.offload_optimizer; }},
    {"offload_activations", [](const Plan& plan) { return plan.recompute == Recompute::Full; }},
    {"offload_modules", [](const Plan& plan) { return plan.recompute != Recompute::Full; }},
    {"offload_least", [](const Plan& plan) { return !plan.offload_modules.none(); }},
    {"offload_blocks", [](const Plan& plan) { return !plan.offload_modules.none(); }},
    {"delay_head_wgrad", has_stages},
});

}  // namespace

bool has_use(const PlanField& field, const Plan& plan) {
  const auto* const use = std::find_if(kUses.begin(), kUses.end(), [&](const Use& row) { return row.field == field.name; });
  return use == kUses.end() || use->is_there(plan);
}

}  // namespace sim
