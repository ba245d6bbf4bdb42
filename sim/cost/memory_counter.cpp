#include "sim/cost/memory_counter.h"

#include <cmath>

#include "sim/cost/memory_beside.h"

namespace sim {

Bytes counted(MemoryCounter counter, const ParallelPlan& plan, const MemoryBreakdown& at_peak) {
  const auto gib = [](double count) { return Bytes(std::llround(count * double{1 << 30})); };
  const Bytes tensors = total(at_peak) + gib(habits_of(plan.cluster).workspace_gib);
  if (counter == MemoryCounter::Allocated) return tensors;
  const Bytes reserved = tensors + memory_beside(plan, at_peak).pool;
  if (counter == MemoryCounter::Reserved) return reserved;
  return reserved + gib(habits_of(plan.cluster).context_gib);
}

}  // namespace sim
