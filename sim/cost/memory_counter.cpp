#include "sim/cost/memory_counter.h"

#include <cmath>
#include <optional>

namespace sim {
namespace {

// What libraries hold beside tensors.
Bytes workspaces(const ParallelPlan& plan) {
  const SoftwareStack& habits = habits_of(plan.cluster);
  const std::int64_t count = habits.product_workspaces + (plan.model.experts ? habits.expert_workspaces : 0);
  if (count == 0) return {};
  const std::optional<KernelTraits>& kernels = plan.cluster.hardware.kernels;
  return (kernels ? kernels->product_workspace : KernelTraits{}.product_workspace) * count;
}

}  // namespace

Bytes counted(MemoryCounter counter, const ParallelPlan& plan, const MemoryBreakdown& at_peak, Bytes cached) {
  const auto gib = [](double count) { return Bytes(std::llround(count * double{1 << 30})); };
  const Bytes tensors = total(at_peak) + gib(habits_of(plan.cluster).workspace_gib) + workspaces(plan);
  if (counter == MemoryCounter::Allocated) return tensors;
  if (counter == MemoryCounter::Reserved) return tensors + cached;
  return tensors + cached + gib(habits_of(plan.cluster).context_gib);
}

}  // namespace sim
