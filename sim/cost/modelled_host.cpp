// What modelled kernels take of the host: to issue them, to run the modules of the program that hold them, and to wait for what it has to know.
#include <algorithm>

#include "sim/cost/modelled_kernels.h"
#include "sim/plan/token_route.h"

namespace sim {
namespace {

// Of host and device alike, at a module whose tensor group is on several nodes, whatever its size.
Seconds wait_between_nodes(const ParallelPlan& plan) {
  const std::int32_t on_node = std::max(1, plan.cluster.hardware.devices_per_node), nodes = (plan.mesh.tensor + on_node - 1) / on_node;
  return plan.mesh.pipeline > 1 ? Seconds(0) : (nodes - 1) * plan.cluster.software.host_per_tensor_node;
}

// Of the host, to run a module of the program once.
Seconds host_of_module(const ParallelPlan& plan) {
  const SoftwareStack& software = plan.cluster.software;
  const bool has_stages_apart = plan.mesh.pipeline > 1 && plan.mesh.ranks() > plan.cluster.hardware.devices_per_node;
  return software.host_per_module + wait_between_nodes(plan) + (plan.mesh.tensor > 1 ? software.host_per_cut_module : Seconds(0)) +
         (has_stages_apart ? plan.mesh.tensor * software.host_per_tensor_rank : Seconds(0));
}

bool is_module(const KernelCall& call) {
  switch (call.kernel) {
    case Kernel::ActivationForward:
    case Kernel::ActivationBackward:
    case Kernel::GatedActivationForward:
    case Kernel::GatedActivationBackward: return true;
    default: return call.reruns_module || family_of(call.kernel) == KernelFamily::FusedAttention;
  }
}

// Units of ZeRO-3 that a call begins: a block at its attention, and each of two matrices of an adapter (PEFT's fsdp_auto_wrap_policy). A rank alone gathers
// nothing, but runs a block's hooks all the same.
double units_of(const KernelCall& call, const ParallelPlan& plan) {
  if (plan.zero_stage != 3) return 0;
  const bool gathers = plan.mesh.shards() > 1;
  return (gathers && plan.cluster.software.unfused_adapters ? 2 * real(call.adapted) : 0) +
         (family_of(call.kernel) == KernelFamily::FusedAttention ? 1 : 0);
}

// FSDP 1 issues no gather while two units before it are not given back (limit_all_gathers; torch/distributed/fsdp/_limiter_utils.py). Where each matrix of an
// adapter is a unit the host is never ahead by more than two of them, which is within a half block.
bool limits_host(const ParallelPlan& plan) {
  const SoftwareStack& software = plan.cluster.software;
  return plan.model.adapters && software.unfused_adapters && software.host_per_unit.count() > 0 && plan.zero_stage == 3 &&
         plan.mesh.shards() > 1;
}

// Products whose rows are routed and brought first. Gradients of weights read what is there.
bool reaches_experts(const KernelCall& call) {
  return call.shape[3] > 0 && call.convolution == nullptr && family_of(call.kernel) == KernelFamily::MatrixProduct &&
         call.kernel != Kernel::LinearWeightGradient;
}

// HybridEP counts rows by expert behind its exchange, and the host reads the counts before it issues what orders them, and the products (csrc/hybrid_ep/executor/
// executor.cu of 2025, Executor::dispatch_postprocess: `.cpu()`, `.item()`). A program whose tokens cross once has no other on domains of more than eight.
bool counts_arrivals(const ParallelPlan& plan) {
  constexpr std::int32_t kDomainOfDeepEp = 8;
  return reaches_nodes_once(plan) && plan.cluster.hardware.devices_per_node > kDomainOfDeepEp;
}

}  // namespace

// A compiled block is one call of the host. What is done for experts depends on the tokens that they got: no graph of a block holds it. A module that is
// recomputed by its name runs its own code again.
Seconds ModelledKernels::issue(const TaskKernels& kernels, const Work& work) const {
  const SoftwareStack& software = plan_.cluster.software;
  double modules = 0, experts = 0, adapted = 0, units = 0;
  for (const KernelCall& call : kernels.calls) {
    modules += is_module(call) && !software.compiled ? 1 : 0;
    adapted += real(call.adapted);
    units += units_of(call, plan_);
    if (reaches_experts(call)) experts = 1;
  }
  const double share = plan_.graph_scope.holds(kernels.segment) ? launch_share_ : 1;
  const double captured = (work.kernels - work.uncaptured) * share, uncaptured = work.uncaptured * uncaptured_share_;
  return (captured + uncaptured) * software.host_per_kernel + modules * share * host_of_module(plan_) +
         experts * uncaptured_share_ * software.host_per_experts +
         share * (adapted * software.host_per_adapter + units * software.host_per_unit);
}

Seconds ModelledKernels::waits(const TaskKernels& kernels) const {
  return static_cast<double>(std::ranges::count_if(kernels.calls, is_module)) * wait_between_nodes(plan_);
}

// Where two microbatches run together it issues the other one meanwhile.
bool ModelledKernels::reads_counts() const {
  const bool counts = plan_.model.experts && plan_.model.experts->dispatch == ExpertDispatch::Dropless;
  return counts && !plan_.expert_overlap && plan_.cuda_graphs != CudaGraphs::FullIteration;
}

bool ModelledKernels::drains(const TaskKernels& kernels) const {
  if (limits_host(plan_)) return true;
  return reads_counts() && !plan_.gathers_tokens() && kernels.kind == CallKind::Forward &&
         std::ranges::any_of(kernels.calls, [](const KernelCall& call) { return call.kernel == Kernel::Routing; });
}

// Experts of a group that gathers all tokens count those of all its ranks, behind the gather, and the host reads the counts before it issues what copies
// their rows (Megatron-Core, MoEAllGatherTokenDispatcher.dispatch_postprocess). What is exchanged is counted before it is sent: the host issues the products
// while rows travel.
bool ModelledKernels::drains(const TaskKey& collective) const {
  if (collective.phase == Phase::Backward || !reads_counts()) return false;
  const bool is_dispatch = collective.operation == Operation::AllToAll && collective.group == MeshAxis::Expert && collective.sequence == 0;
  const bool brings_tokens =
      (collective.group == MeshAxis::Expert || collective.group == MeshAxis::ExpertTensor) && collective.operation == Operation::AllGather;
  return (is_dispatch && counts_arrivals(plan_)) || (brings_tokens && plan_.gathers_tokens());
}

}  // namespace sim
