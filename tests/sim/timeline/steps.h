// Steps with their graphs, timed by the engine: pipelines with prices by hand, and random plans. For tests of what explains a step.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "sim/cost/modelled_kernels.h"
#include "sim/engine/engine.h"
#include "sim/engine/simulate.h"
#include "sim/task_graph/task_graph_builder.h"
#include "sim/timeline/dependencies.h"
#include "tests/sim/cost/random_plans.h"

namespace sim::testing {

struct Step {
  TaskGraph graph;
  Timeline timeline;
  SimulationResult result;
  Dependencies dependencies;
  bool is_issued = false;  // the host takes time to issue its tasks
};

struct StageCosts {
  std::int64_t forward = 1, backward = 1;  // picoseconds, of an equal stage
  std::int64_t more_on_last = 0;           // on each forward and backward of the last stage
};

inline Task action_task(const StageAction& action, StageIndex stage) {
  const Phase phase = action.kind == ActionKind::Forward ? Phase::Forward : Phase::Backward;
  return {.key = {.stage = stage, .chunk = action.chunk, .microbatch = action.microbatch, .phase = phase, .operation = Operation::Mlp},
          .device = DeviceId(stage.value())};
}

// A pipeline whose transfers take no time. Shapes of one chunk.
inline Step pipeline_step(const Schedule& schedule, PipelineShape shape, const StageCosts& costs) {
  TaskGraphBuilder builder;
  std::deque<TaskCost> prices;
  std::map<std::pair<Phase, std::pair<std::int32_t, std::int32_t>>, TaskId> ids;  // (phase, (stage, microbatch))
  for (StageIndex stage(0); stage.value() < shape.stages; ++stage) {
    builder.add_device({.representative = Rank(stage.value()), .stage = stage});
    for (const StageAction& action : schedule.order(shape, stage)) {
      const Task task = action_task(action, stage);
      ids[{task.key.phase, {stage.value(), action.microbatch.value()}}] = builder.add_task(task);
      const std::int64_t more = stage.value() + 1 == shape.stages ? costs.more_on_last : 0;
      prices.push_back({.duration = SimTime(more + (action.kind == ActionKind::Forward ? costs.forward : costs.backward))});
    }
  }
  for (std::int32_t m = 0; m < shape.microbatches; ++m) {
    for (std::int32_t s = 0; s + 1 < shape.stages; ++s) {
      builder.add_edge(ids.at({Phase::Forward, {s, m}}), ids.at({Phase::Forward, {s + 1, m}}));
      builder.add_edge(ids.at({Phase::Backward, {s + 1, m}}), ids.at({Phase::Backward, {s, m}}));
    }
  }
  Step step{std::move(builder).freeze(), {}, {}, {}};
  const MemoryEffect nothing;
  std::vector<PricedTask> priced;
  for (const TaskCost& price : prices) priced.push_back({&price, &nothing});
  MemoryTracker memory(std::vector<MemoryBreakdown>(step.graph.devices().size()), MemoryTracker::Keep::Peak);
  const EngineRun run = Engine(step.graph, std::move(priced), LinkSharing({0}), StreamOrder::Overlapping, memory).run();
  step.timeline.devices.assign(step.graph.devices().begin(), step.graph.devices().end());
  for (std::size_t at = 0; at < run.tasks.size(); ++at) {
    const Task& task = step.graph.tasks()[at];
    step.timeline.spans.push_back({task.device, task.stream, task.key, run.tasks[at].started, run.tasks[at].ended});
  }
  step.result.step_time = run.step_time;
  step.dependencies = dependencies_of(step.graph, step.timeline, StreamOrder::Overlapping);
  return step;
}

inline Step simulated_step(const ParallelPlan& plan, Fold fold) {
  const ModelGraph model = make_model_graph(plan);
  Step step{lower(model, plan, fold), {}, {}, {}};
  step.is_issued = is_modelled(plan.cluster.hardware);
  step.result = simulate(model, plan, step.graph, Detail::Timeline);
  step.timeline = step.result.timeline;
  step.dependencies = dependencies_of(step.graph, step.timeline, stream_order(plan));
  return step;
}

// Hands `check` random plans, folded and rank by rank, on both kinds of devices.
template <class Check>
void for_random_steps(int plans, Check check) {
  for (const DeviceKind kind : {DeviceKind::Cpu, DeviceKind::Gpu}) {
    PlanGenerator generator(23);
    for (int i = 0; i < plans; ++i) {
      const ParallelPlan plan = generator.next(kind);
      SCOPED_TRACE(describe(plan));
      for (const Fold& fold : {Fold::Symmetric, Fold::None}) check(simulated_step(plan, fold));
    }
  }
}

}  // namespace sim::testing
