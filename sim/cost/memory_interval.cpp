#include "sim/cost/memory_interval.h"

#include "sim/clock/behavior.h"
#include "sim/clock/spread.h"
#include "sim/cost/memory_beside.h"

namespace sim {
namespace {

constexpr double kOwnWorker = 0.02;  // the most that tests of our worker against the simulated peak let it miss

}  // namespace

Bytes MemoryInterval::low(Bytes occupied) const { return scaled(occupied, 1 / (1 + half_width)); }
Bytes MemoryInterval::high(Bytes occupied) const { return scaled(occupied, 1 + half_width) + beside; }

double MemoryInterval::chance_above(Bytes occupied, Bytes limit) const {
  const FourOfFive range{static_cast<double>(low(occupied).value()), static_cast<double>(high(occupied).value())};
  return sim::chance_above(range, static_cast<double>(limit.value()));
}

namespace {

struct Width {
  double half = 0;
  std::string_view basis;
  bool of_our_worker = true;
};

Width width_of(const Cluster& cluster) {
  const std::string& software = cluster.software.name;
  if (!software.empty() && software != "meshwright")
    return {common_behavior().memory_interval, "published runs that state their memory", false};
  if (cluster.hardware.kind == DeviceKind::Cpu) return {kOwnWorker, "tensors of the worker, as its tests measure them"};
  return {kOwnWorker, "tensors of the worker, as its tests measure them; allocator and NCCL are estimated"};
}

}  // namespace

// Of other software's programs usable_memory() has taken off what libraries hold: NCCL's buffers are among it.
MemoryInterval memory_interval(const ParallelPlan& plan, const MemoryBreakdown& at_peak) {
  const MemoryBeside beside = memory_beside(plan, at_peak);
  const Width width = width_of(plan.cluster);
  if (!width.of_our_worker) return {width.half, beside.pool, width.basis};
  return {width.half, plan.cluster.hardware.kind == DeviceKind::Cpu ? Bytes{} : beside.pool + beside.nccl, width.basis};
}

// The chance grows with what is occupied and, below one half, with what may be beside it.
Bytes most_occupied(const Cluster& cluster, const Risk& risk) {
  if (risk.chance >= 0.5) return risk.limit;
  const MemoryInterval alone{.half_width = width_of(cluster).half, .beside = {}, .basis = {}};
  std::int64_t fits = 0, above = risk.limit.value() + 1;
  while (above - fits > 1) {
    const std::int64_t middle = fits + (above - fits) / 2;
    (alone.chance_above(Bytes(middle), risk.limit) <= risk.chance ? fits : above) = middle;
  }
  return Bytes(fits);
}

}  // namespace sim
