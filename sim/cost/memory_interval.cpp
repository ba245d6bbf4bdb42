#include "sim/cost/memory_interval.h"

#include <cmath>

#include "sim/cost/memory_beside.h"
#include "sim/estimate/behavior.h"
#include "sim/estimate/spread.h"

namespace sim {
namespace {

constexpr double kOwnWorker = 0.02;  // the most that tests of our worker against the simulated peak let it miss

Bytes stretched(Bytes amount, double factor) { return Bytes(std::llround(factor * static_cast<double>(amount.value()))); }

}  // namespace

Bytes MemoryInterval::low(Bytes occupied) const { return stretched(occupied, 1 / (1 + half_width)); }
Bytes MemoryInterval::high(Bytes occupied) const { return stretched(occupied, 1 + half_width) + beside; }

double MemoryInterval::chance_above(Bytes occupied, Bytes limit) const {
  const FourOfFive range{static_cast<double>(low(occupied).value()), static_cast<double>(high(occupied).value())};
  return sim::chance_above(range, static_cast<double>(limit.value()));
}

// Of other software's programs usable_memory() has taken off what libraries hold: NCCL's buffers are among it.
MemoryInterval memory_interval(const ParallelPlan& plan, const MemoryBreakdown& at_peak) {
  const MemoryBeside beside = memory_beside(plan, at_peak);
  const std::string& software = plan.cluster.software.name;
  if (!software.empty() && software != "meshwright")
    return {common_behavior().memory_interval, beside.pool, "published runs that state their memory"};
  if (plan.cluster.hardware.kind == DeviceKind::Cpu) return {kOwnWorker, {}, "tensors of the worker, as its tests measure them"};
  return {kOwnWorker, beside.pool + beside.nccl, "tensors of the worker, as its tests measure them; allocator and NCCL are estimated"};
}

}  // namespace sim
