#include "sim/validation/simulated_row.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/allocator/reserved_memory.h"
#include "sim/clock/kernel_setting.h"
#include "sim/clock/spread.h"
#include "sim/cost/memory_beside.h"
#include "sim/cost/memory_interval.h"
#include "sim/cost/plan_likeness.h"
#include "sim/units/at.h"
#include "sim/validation/row_layout.h"

namespace sim {
namespace {

constexpr double kMemoryDoubt = 1.2;  // of the simulated memory: a run that was made did fit

double gib(Bytes amount) { return real(amount.value()) / (1 << 30); }

double available_gib(const ParallelPlan& plan) { return gib(plan.cluster.hardware.memory) * common_behavior().driver_share; }

const Recomputation kRecomputations[] = {{},
                                         {Recompute::Selective},
                                         {Recompute::Selective, {.modules = Module::Mlp | Module::LayerNorm}},
                                         {Recompute::Selective, {.modules = Module::Op}},
                                         {Recompute::Full}};

std::string to_text(const ParallelPlan& plan) {
  const std::string scope = to_text(plan.recompute_scope), what(sim::at(kRecomputeNames, plan.recompute));
  return scope.empty() ? what : what + ", " + scope;
}

SimulationResult simulated(const ParallelPlan& plan, Detail detail = Detail::Summary) {
  return simulate(make_model_graph(plan), plan, detail);
}

bool is_of_blocks(const TaskKey& key, std::int64_t blocks) { return key.layer.value() >= 1 && key.layer.value() <= blocks; }

// From the first task of the blocks to their last, forward and backward apart: what stands between them is the head's.
Seconds time_of_blocks(const ParallelPlan& plan, const SimulationResult& result) {
  struct Passage {
    SimTime begin = SimTime::max(), end = SimTime::min();
  };
  std::map<bool, Passage> passages;
  for (const Span& span : result.timeline.spans) {
    if (!is_of_blocks(span.key, plan.model.layers) || span.key.phase == Phase::Step || span.key.phase == Phase::Gradients) continue;
    Passage& passage = passages[span.key.phase == Phase::Forward];
    passage.begin = std::min(passage.begin, span.start);
    passage.end = std::max(passage.end, span.end);
  }
  SimTime sum{};
  for (const auto& [is_forward, passage] : passages) sum += passage.end - passage.begin;
  return to_seconds(sum);
}

struct NeededMemory {
  double shown = 0, needed = 0;  // GiB
};

NeededMemory memory_of(const DescribedRow& described, const ParallelPlan& plan, const SimulationResult& result) {
  const CountedMemory memory = counted_memory(plan, result, described.asked);
  return {std::min(gib(memory.shown), std::max(available_gib(plan), gib(result.peak_memory))), gib(memory.needed)};
}

// A run whose recomputation is open, or is of parts that it does not name, is out of memory only where nothing fits; it shows no more than there is.
NeededMemory settled_memory(const DescribedRow& described, const SimulationResult& result) {
  const NeededMemory memory = memory_of(described, described.plan, result);
  const bool is_open = described.recompute_open || described.recompute_parts_open;
  if (!is_open || memory.needed <= available_gib(described.plan)) return memory;
  ParallelPlan least = described.plan;
  set_recomputation(least, {Recompute::Full});
  const NeededMemory smallest = memory_of(described, least, simulated(least));
  return {std::max(smallest.shown, std::min(memory.shown, available_gib(described.plan))), smallest.needed};
}

MemoryCounter counter_of(const ParallelPlan& plan, const MemoryQuestion& asked) {
  return asked.counter.value_or(habits_of(plan.cluster).shows_reserved ? MemoryCounter::Reserved : MemoryCounter::Device);
}

void take_memory(const NeededMemory& memory, const DescribedRow& described, RowEstimate& estimate) {
  const ParallelPlan& plan = described.plan;
  const double width = 1 + memory_interval(plan, {}).half_width, held = gib(held_reductions(plan));
  estimate.memory_gib = memory.shown;
  estimate.memory_low_gib = memory.shown / width;
  estimate.memory_high_gib = memory.shown * width + (counter_of(plan, described.asked) == MemoryCounter::Allocated ? 0 : held);
  estimate.out_of_memory_chance = chance_above({memory.needed / width, memory.needed * width + held}, available_gib(plan));
  estimate.out_of_memory = estimate.out_of_memory_chance > 0.5;
}

// Images are decoded on the host while the device computes the step before; a node whose other devices are idle clocks higher.
Seconds loading_time(const ParallelPlan& plan) {
  const double each = plan.cluster.software.images_per_worker;
  if (!plan.model.convolution || each <= 0 || !plan.cluster.hardware.kernels) return {};
  const Device device(plan.cluster.hardware);
  const double lone = plan.cluster.hardware.devices_per_node > 1 ? 1 : device.behavior.lone_host_gain;
  return Seconds(real(plan.workload.global_batch / plan.mesh.data) / (each * device.kernels.loader_workers * lone));
}

}  // namespace

CountedMemory counted_memory(const ParallelPlan& plan, const SimulationResult& result, const MemoryQuestion& asked) {
  const MemoryCounter counter = counter_of(plan, asked);
  const std::int32_t last = plan.mesh.pipeline - 1;
  CountedMemory memory;
  const DeviceResult* shown = nullptr;
  for (const DeviceResult& device : result.devices) {
    const std::int32_t stage = device.stage.value();
    const bool is_asked = asked.rank == AskedRank::Fullest || stage == (asked.rank == AskedRank::First ? 0 : last);
    if (is_asked && (shown == nullptr || device.peak_memory > shown->peak_memory)) shown = &device;
    const Bytes held = memory_beside(plan, device.at_peak).pool;  // what is free besides goes back when the device is full
    memory.needed = std::max(memory.needed, counted(MemoryCounter::Device, plan, device.at_peak, held));
  }
  if (shown == nullptr) return memory;
  const Bytes held = counter == MemoryCounter::Allocated ? Bytes{} : held_by_allocator(plan, shown->stage, shown->at_peak);
  memory.shown = counted(counter, plan, shown->at_peak, held);
  return memory;
}

void settle_recompute(DescribedRow& described) {
  if (!described.recompute_open) return;
  ParallelPlan& plan = described.plan;
  for (const Recomputation& recomputation : kRecomputations) {
    if (recomputation.what == Recompute::Selective && !plan.cluster.software.recomputes_parts) continue;
    set_recomputation(plan, recomputation);
    if (described.timed == Timed::Layer || plan.model.convolution || recomputation.what == Recompute::Full || !violations(plan).empty())
      break;
    if (memory_of(described, plan, simulated(plan)).needed <= kMemoryDoubt * available_gib(plan)) break;
  }
  described.assumed.push_back({"plan.recompute", to_text(plan)});
}

void take_time(Seconds time, const PredictionInterval& interval, const ParallelPlan& plan, RowEstimate& estimate) {
  estimate.step = {time, interval.half_width, likeness_of(plan)};
  estimate.program = plan.cluster.software.name;
  estimate.time = time;
  estimate.low = interval.low(time);
  estimate.high = interval.high(time);
}

RowEstimate estimate(const DescribedRow& described) {
  RowEstimate estimate;
  const ParallelPlan& plan = described.plan;
  const bool is_layer = described.timed == Timed::Layer;
  const SimulationResult result = simulated(plan, is_layer ? Detail::Timeline : Detail::Summary);
  PredictionInterval interval = prediction_interval(plan);
  if (is_layer) interval.half_width = std::hypot(interval.half_width, common_behavior().novel_layer);
  const Seconds step = std::max(to_seconds(result.step_time), loading_time(plan));
  take_time(is_layer ? time_of_blocks(plan, result) : step, interval, plan, estimate);
  take_memory(settled_memory(described, result), described, estimate);
  return estimate;
}

}  // namespace sim
