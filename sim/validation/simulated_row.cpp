#include "sim/validation/simulated_row.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/allocator/reserved_memory.h"
#include "sim/clock/kernel_setting.h"
#include "sim/cost/memory_interval.h"
#include "sim/cost/plan_likeness.h"
#include "sim/engine/out_of_memory.h"
#include "sim/units/at.h"
#include "sim/validation/row_layout.h"

namespace sim {
namespace {

constexpr double kMemoryDoubt = 1.2;  // of the simulated memory: a run that was made did fit

double gib(Bytes amount) { return real(amount.value()) / (1 << 30); }

double available_gib(const ParallelPlan& plan) { return gib(process_memory(plan.cluster)); }

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

struct JudgedMemory {
  double shown = 0;                 // GiB
  double out_of_memory_chance = 0;  // as plan and check say it
};

JudgedMemory memory_of(const DescribedRow& described, const ParallelPlan& plan, const SimulationResult& result) {
  const double shown = gib(counted_memory(plan, result, described.asked)), most = std::max(available_gib(plan), gib(result.peak_memory));
  return {std::min(shown, most), out_of_memory_chance(plan, result)};
}

// A run whose recomputation is open, or is of parts that it does not name, is out of memory only where nothing fits; it shows no more than there is.
JudgedMemory settled_memory(const DescribedRow& described, const SimulationResult& result) {
  const JudgedMemory memory = memory_of(described, described.plan, result);
  const bool is_open = described.recompute_open || described.recompute_parts_open;
  if (!is_open || memory.out_of_memory_chance <= 0.5) return memory;
  ParallelPlan least = described.plan;
  set_recomputation(least, {Recompute::Full});
  const JudgedMemory smallest = memory_of(described, least, simulated(least));
  return {std::max(smallest.shown, std::min(memory.shown, available_gib(described.plan))), smallest.out_of_memory_chance};
}

MemoryCounter counter_of(const ParallelPlan& plan, const MemoryQuestion& asked) {
  return asked.counter.value_or(habits_of(plan.cluster).shows_reserved ? MemoryCounter::Reserved : MemoryCounter::Device);
}

void take_memory(const JudgedMemory& memory, const DescribedRow& described, RowEstimate& estimate) {
  const ParallelPlan& plan = described.plan;
  const double width = 1 + memory_interval(plan, {}).half_width, held = gib(held_reductions(plan));
  estimate.memory_gib = memory.shown;
  estimate.memory_low_gib = memory.shown / width;
  estimate.memory_high_gib = memory.shown * width + (counter_of(plan, described.asked) == MemoryCounter::Allocated ? 0 : held);
  estimate.out_of_memory_chance = memory.out_of_memory_chance;
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

Bytes counted_memory(const ParallelPlan& plan, const SimulationResult& result, const MemoryQuestion& asked) {
  const MemoryCounter counter = counter_of(plan, asked);
  const std::int32_t last = plan.mesh.pipeline - 1;
  const DeviceResult* shown = nullptr;
  for (const DeviceResult& device : result.devices) {
    const std::int32_t stage = device.stage.value();
    const bool is_asked = asked.rank == AskedRank::Fullest || stage == (asked.rank == AskedRank::First ? 0 : last);
    if (is_asked && (shown == nullptr || device.peak_memory > shown->peak_memory)) shown = &device;
  }
  if (shown == nullptr) return {};
  const Bytes held = counter == MemoryCounter::Allocated ? Bytes{} : held_by_allocator(plan, shown->stage, shown->at_peak);
  return counted(counter, plan, shown->at_peak, held);
}

void settle_recompute(DescribedRow& described) {
  if (!described.recompute_open) return;
  ParallelPlan& plan = described.plan;
  for (const Recomputation& recomputation : kRecomputations) {
    if (recomputation.what == Recompute::Selective && !plan.cluster.software.recomputes_parts) continue;
    set_recomputation(plan, recomputation);
    if (described.timed == Timed::Layer || plan.model.convolution || recomputation.what == Recompute::Full || !violations(plan).empty())
      break;
    if (out_of_memory_chance(plan, simulated(plan), scaled(usable_memory(plan.cluster), kMemoryDoubt)) <= 0.5) break;
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
