#include "sim/cost/memory_interval.h"

#include <cmath>

#include "sim/clock/behavior.h"
#include "sim/clock/spread.h"
#include "sim/cost/memory_beside.h"
#include "sim/cost/memory_counter.h"
#include "sim/cost/memory_novelty.h"

namespace sim {
namespace {

constexpr double kOwnWorker = 0.02;  // the most that tests of our worker against the simulated peak let it miss

}  // namespace

Bytes MemoryInterval::low(Bytes occupied) const { return scaled(occupied + held, 1 / (1 + half_width)); }
Bytes MemoryInterval::high(Bytes occupied) const { return scaled(occupied + held, 1 + half_width) + beside; }

double MemoryInterval::chance_above(Bytes occupied, Bytes limit) const {
  const FourOfFive range{static_cast<double>(low(occupied).value()), static_cast<double>(high(occupied).value())};
  return sim::chance_above(range, static_cast<double>(limit.value()));
}

namespace {

bool is_of_our_worker(const Cluster& cluster) {
  const std::string& software = cluster.software.name;
  return software.empty() || software == "meshwright";
}

// Of a program, before what is new in a plan.
double width_of(const Cluster& cluster) {
  if (is_of_our_worker(cluster)) return kOwnWorker;
  return std::hypot(common_behavior().memory_interval, memory_novelty().of(cluster.software.name).novelty);
}

double width_of(const ParallelPlan& plan) {
  const double width = width_of(plan.cluster);
  if (is_of_our_worker(plan.cluster)) return width;
  const MemoryNovelty& novelty = memory_novelty();
  return std::hypot(width, plan.slices > 1 ? novelty.slices : 0, plan.keeps_on_host() ? novelty.host_activations : 0);
}

std::string_view basis_of(const Cluster& cluster) {
  if (!is_of_our_worker(cluster))
    return memory_novelty().programs.contains(cluster.software.name) ? "published runs that state their memory"
                                                                     : "other programs: no run of this one states its memory";
  if (cluster.hardware.kind == DeviceKind::Cpu) return "tensors of the worker, as its tests measure them";
  return "tensors of the worker, as its tests measure them; allocator and NCCL are estimated";
}

}  // namespace

// Each block's backward has two such products, whose input gradients are of all ranks' rows. The host issues them ahead of the device, and the allocator gives
// none out again before the device has passed it.
Bytes held_reductions(const ParallelPlan& plan) {
  const bool reduces = plan.mesh.tensor > 1 && plan.sequence_parallel && plan.cluster.hardware.kind == DeviceKind::Gpu;
  if (!reduces || is_of_our_worker(plan.cluster) || !memory_novelty().of(plan.cluster.software.name).holds_reductions) return {};
  const std::int64_t blocks = (plan.model.layers + plan.mesh.pipeline - 1) / plan.mesh.pipeline;
  return plan.bytes(Numbers::Activations) * (2 * blocks * plan.shard_shape().tokens() * plan.model.hidden);
}

// Of other software's programs usable_memory() has taken off what libraries hold: NCCL's buffers are among it.
MemoryInterval memory_interval(const ParallelPlan& plan, const MemoryBreakdown& at_peak) {
  const MemoryBeside beside = memory_beside(plan, at_peak);
  MemoryInterval interval{.half_width = width_of(plan), .basis = basis_of(plan.cluster)};
  if (is_of_our_worker(plan.cluster)) {
    interval.beside = beside.pool + beside.nccl;
    return interval;
  }
  interval.held = counted(MemoryCounter::Reserved, plan, at_peak, beside.pool) - total(at_peak);
  interval.beside = held_reductions(plan);
  return interval;
}

// The chance grows with what is occupied and, below one half, with what may be beside it.
Bytes most_occupied(const Cluster& cluster, const Risk& risk) {
  if (risk.chance >= 0.5) return risk.limit;
  const MemoryInterval alone{.half_width = width_of(cluster), .held = {}, .beside = {}, .basis = {}};
  std::int64_t fits = 0, above = risk.limit.value() + 1;
  while (above - fits > 1) {
    const std::int64_t middle = fits + (above - fits) / 2;
    (alone.chance_above(Bytes(middle), risk.limit) <= risk.chance ? fits : above) = middle;
  }
  return Bytes(fits);
}

}  // namespace sim
