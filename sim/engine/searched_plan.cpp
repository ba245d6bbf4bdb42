#include "sim/engine/searched_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "sim/units/at.h"

namespace sim {
namespace {

constexpr const char* kTimedSchedule = "zb-1p";
constexpr std::int32_t kWholeShare = 100;

// What its passes are measured on.
ParallelPlan timed(const ParallelPlan& plan) {
  ParallelPlan timed = plan;
  timed.schedule = kTimedSchedule;
  timed.written_order.reset();
  return timed;
}

struct Elapsed {
  SimTime start = SimTime::max(), end{};
  void take(const Span& span) { start = std::min(start, span.start), end = std::max(end, span.end); }
};
using PassKey = std::tuple<StageIndex, ActionKind, MicrobatchIndex>;
using Passes = std::map<PassKey, Elapsed>;

// None: of the step, or of reductions.
std::optional<ActionKind> action_of(Phase phase) {
  switch (phase) {
    case Phase::Forward: return ActionKind::Forward;
    case Phase::Backward:
    case Phase::Recompute: return ActionKind::Backward;
    case Phase::Weight: return ActionKind::Weight;
    default: return std::nullopt;
  }
}

template <class Value>
Value middle(std::vector<Value> values) {
  if (values.empty()) return {};
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  return *half;
}

// Of one device, or of all.
Passes passes_of(const Timeline& timeline, std::optional<DeviceId> device = {}) {
  Passes passes;
  for (const Span& span : timeline.spans)
    if (const auto action = action_of(span.key.phase);
        action && span.key.microbatch.exists() && span.stream == Stream::Compute && span.device == device.value_or(span.device))
      passes[{span.key.stage, *action, span.key.microbatch}].take(span);
  return passes;
}

PipelineTimes pipeline_times(const Timeline& timeline, std::int32_t stages) {
  const Passes passes = passes_of(timeline);
  std::vector<SimTime> transfers;
  for (const Span& span : timeline.spans)
    if (action_of(span.key.phase) && span.key.microbatch.exists() && span.stream == Stream::Send)
      transfers.push_back(span.end - span.start);
  PipelineTimes times{.stages = std::vector<PassTimes>(count_of(stages)), .transfer = middle(std::move(transfers))};
  for (StageIndex stage(0); stage.value() < stages; ++stage) {
    const auto pass = [&](ActionKind kind) {
      std::vector<SimTime> each;
      for (const auto& [key, elapsed] : passes)
        if (std::get<StageIndex>(key) == stage && std::get<ActionKind>(key) == kind) each.push_back(elapsed.end - elapsed.start);
      return middle(std::move(each));
    };
    times.stages[stage.position()] = {pass(ActionKind::Forward), pass(ActionKind::Backward), pass(ActionKind::Weight)};
  }
  return times;
}

// What is alive on one device, from sample to sample.
class Alive {
 public:
  Alive(const Timeline& timeline, DeviceId device) {
    for (const MemorySample& sample : timeline.memory)
      if (sample.device == device) at_[sample.time] = sim::at(sample.alive, MemoryCategory::Activations);
  }
  Bytes behind(SimTime time) const {
    const auto after = at_.upper_bound(time);
    return after == at_.begin() ? Bytes{} : std::prev(after)->second;
  }

 private:
  std::map<SimTime, Bytes> at_;
};

struct Held {
  Bytes whole{}, waiting{};  // of a microbatch: from its forward on, and between its two backwards
};

// By what each pass leaves more or less than the one in front of it.
Held held_by(const Timeline& timeline, DeviceId device) {
  std::map<SimTime, ActionKind> ends;
  for (const auto& [key, elapsed] : passes_of(timeline, device)) ends[elapsed.end] = std::get<ActionKind>(key);
  const Alive alive(timeline, device);
  std::vector<Bytes> forwards, weights;
  Bytes before{};
  for (const auto& [end, kind] : ends) {
    const Bytes now = alive.behind(end);
    if (kind == ActionKind::Forward) forwards.push_back(now - before);
    if (kind == ActionKind::Weight) weights.push_back(before - now);
    before = now;
  }
  return {middle(std::move(forwards)), middle(std::move(weights))};
}

std::int32_t share(Bytes part, Bytes whole) {
  return whole.value() > 0 ? static_cast<std::int32_t>(part.value() * kWholeShare / whole.value()) : kWholeShare;
}

StageMemory stage_memory(const SimulationResult& result, const ParallelPlan& plan, StageIndex stage, Bytes most) {
  const auto device = std::ranges::find(result.devices, stage, &DeviceResult::stage);
  const Held held = held_by(result.timeline, DeviceId(static_cast<std::int32_t>(position_in(result.devices, device))));
  const std::int32_t waiting = std::clamp(share(held.waiting, held.whole) + 1, 1, kWholeShare);
  const std::int32_t now = percent_held(plan.order(stage), {.waiting = waiting});
  const std::int32_t more = share(most - device->peak_memory, held.whole);
  return {.limit = std::max(kWholeShare, now + std::min(more, kWholeShare * plan.pipeline_shape().microbatches)), .waiting = waiting};
}

}  // namespace

std::vector<Violation> why_not_searched(const ParallelPlan& plan) {
  std::vector<Violation> found = violations(timed(plan));
  if (plan.mesh.pipeline < 2) found.push_back({"/mesh/pipeline", "is 1: there is no order to search", "use 2 stages or more"});
  return found;
}

OrderProblem order_problem(const ModelGraph& model, const ParallelPlan& plan, Bytes most) {
  const ParallelPlan on = timed(plan);
  const SimulationResult simulated = simulate(model, on, Detail::Timeline);
  const PipelineShape shape = on.pipeline_shape();
  OrderProblem problem{.times = pipeline_times(simulated.timeline, shape.stages),
                       .shape = shape,
                       .memory = {},
                       .end = plan.post_validation == PostValidation::None ? StepEnd::Barrier : StepEnd::Cross};
  for (StageIndex stage(0); stage.value() < shape.stages; ++stage) problem.memory.push_back(stage_memory(simulated, on, stage, most));
  return problem;
}

// Peaks stand within passes, beside what shares say: where one is too high, stages hold less.
std::optional<SearchedPlan> with_searched_order(const ModelGraph& model, const ParallelPlan& plan, const SimulationResult& before) {
  OrderProblem problem = order_problem(model, plan, before.peak_memory);
  constexpr std::int32_t kMostLess = 160;
  for (std::int32_t less = 5; less <= kMostLess; less *= 2) {
    ParallelPlan searched = plan;
    searched.take_order(searched_order(problem));
    SimulationResult after = simulate(model, searched);
    if (after.step_time >= before.step_time) return std::nullopt;
    if (after.peak_memory <= before.peak_memory) return SearchedPlan{std::move(searched), std::move(after)};
    for (StageMemory& stage : problem.memory) stage.limit = std::max(kWholeShare, stage.limit - less);
  }
  return std::nullopt;
}

}  // namespace sim
