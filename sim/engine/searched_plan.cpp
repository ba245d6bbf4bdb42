#include "sim/engine/searched_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/engine/simulate.h"
#include "sim/units/at.h"

namespace sim {
namespace {

constexpr const char* kTimedSchedule = "zb-1p";
constexpr const char* kTwiceTheMemory = "zb-2p";

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

SimTime middle(std::vector<SimTime> times) {
  if (times.empty()) return {};
  const auto half = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), half, times.end());
  return *half;
}

PipelineTimes pipeline_times(const Timeline& timeline, std::int32_t stages) {
  std::map<PassKey, Elapsed> passes;
  std::vector<SimTime> transfers;
  for (const Span& span : timeline.spans) {
    const std::optional<ActionKind> action = action_of(span.key.phase);
    if (!action || !span.key.microbatch.exists()) continue;
    if (span.stream == Stream::Send) transfers.push_back(span.end - span.start);
    if (span.stream == Stream::Compute) passes[{span.key.stage, *action, span.key.microbatch}].take(span);
  }
  PipelineTimes times{.stages = std::vector<PassTimes>(count_of(stages)), .transfer = middle(std::move(transfers))};
  for (StageIndex stage(0); stage.value() < stages; ++stage) {
    const auto pass = [&](ActionKind kind) {
      std::vector<SimTime> each;
      for (const auto& [key, elapsed] : passes)
        if (std::get<0>(key) == stage && std::get<1>(key) == kind) each.push_back(elapsed.end - elapsed.start);
      return middle(std::move(each));
    };
    times.stages[stage.position()] = {pass(ActionKind::Forward), pass(ActionKind::Backward), pass(ActionKind::Weight)};
  }
  return times;
}

}  // namespace

std::vector<Violation> why_not_searched(const ParallelPlan& plan) {
  std::vector<Violation> found = violations(timed(plan));
  if (plan.mesh.pipeline < 2) found.push_back({"/mesh/pipeline", "is 1: there is no order to search", "use 2 stages or more"});
  return found;
}

OrderProblem order_problem(const ModelGraph& model, const ParallelPlan& plan) {
  const ParallelPlan on = timed(plan);
  const SimulationResult simulated = simulate(model, on, Detail::Timeline);
  PipelineShape shape = on.pipeline_shape();
  shape.waiting = on.percent_waiting();
  return {.times = pipeline_times(simulated.timeline, shape.stages),
          .shape = shape,
          .in_flight = plan.schedule == kTwiceTheMemory ? 2 * shape.stages : shape.stages,
          .end = plan.post_validation == PostValidation::None ? StepEnd::Barrier : StepEnd::Cross};
}

}  // namespace sim
