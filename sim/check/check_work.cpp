#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>

#include "sim/check/expected_work.h"
#include "sim/check/graph_rules.h"
#include "sim/schedule/schedule.h"
#include "sim/task_graph/repeat.h"

namespace sim {
namespace {

using TasksByKey = std::map<TaskKey, TaskId>;

bool is_judged(const CheckedGraph& checked, const Task& task) { return !(gathers_weights(checked.plan) && is_gathering(task)); }

TasksByKey tasks_of(const CheckedGraph& checked, DeviceId device) {
  TasksByKey tasks;
  for (const TaskId id : checked.graph.issue_order(device)) tasks.emplace(expected_form(checked.graph.task(id).key, checked.plan), id);
  return tasks;
}

void check_tasks(const CheckedGraph& checked, DeviceId device, const std::vector<ExpectedTask>& expected, Findings& findings) {
  const GraphDevice& known = checked.graph.devices()[device.position()];
  std::map<TaskKey, Bytes> left;
  for (const ExpectedTask& task : expected) left.emplace(task.key, task.payload);
  for (const TaskId id : checked.graph.issue_order(device)) {
    const Task& task = checked.graph.task(id);
    if (!is_judged(checked, task)) continue;
    const auto found = left.find(expected_form(task.key, checked.plan));
    if (found == left.end()) {
      findings.add(fmt::format("{} is not in the plan, or is there twice", name_of(checked.graph, task)));
      continue;
    }
    if (found->second != task.payload)
      findings.add(
          fmt::format("{} carries {} B instead of {} B", name_of(checked.graph, task), task.payload.value(), found->second.value()));
    left.erase(found);
  }
  for (const auto& [key, payload] : left) findings.add(fmt::format("{} of rank {} is missing", to_text(key), known.representative.value()));
}

// A part without a layer hands on, and an embedding has no weight gradients apart; nor has what stands in front of all that is trained.
bool computes(const CheckedGraph& checked, StageIndex stage, const StageAction& action) {
  const LayerRange range = checked.plan.layers(stage, action.chunk);
  const bool comes = action.kind == ActionKind::Forward || is_reached(checked.model, LayerIndex(range.end.value() - 1));
  return range.begin != range.end && comes && (action.kind != ActionKind::Weight || range.end > LayerIndex(1));
}

// F, B and W in issue order, as the schedule has them; of two that run together, which begins first. There gradients of weights come where their layers
// and the exchanges let them, and what they wait for is judged alone (check_needs).
void check_schedule(const CheckedGraph& checked, DeviceId device, Findings& findings) {
  std::vector<StageAction> actions;
  for (const TaskId id : checked.graph.issue_order(device)) {
    const TaskKey& key = checked.graph.task(id).key;
    const bool of_action =
        key.phase == Phase::Forward || key.phase == Phase::Backward || key.phase == Phase::Recompute || key.phase == Phase::Weight;
    if (!of_action || moves_data(key.operation) || key.operation == Operation::Reshard) continue;
    const ActionKind kind = key.phase == Phase::Forward  ? ActionKind::Forward
                            : key.phase == Phase::Weight ? ActionKind::Weight
                                                         : ActionKind::Backward;
    if (kind == ActionKind::Weight && (checked.plan.expert_overlap || checked.plan.delays_weights(key.layer))) continue;
    const StageAction action{kind, key.microbatch, key.chunk, key.slice};
    const bool is_merged = checked.plan.expert_overlap && std::find(actions.begin(), actions.end(), action) != actions.end();
    if (!is_merged && (actions.empty() || actions.back() != action)) actions.push_back(action);
  }
  const StageIndex stage = checked.graph.devices()[device.position()].stage;
  std::vector<StageAction> expected = checked.plan.order(stage);
  std::erase_if(expected, [&](const StageAction& action) {
    return !computes(checked, stage, action) || (checked.plan.expert_overlap && action.kind == ActionKind::Weight);
  });
  if (actions != expected)
    findings.add(fmt::format("stage {} runs '{}' instead of '{}'", stage.value(), to_text(actions), to_text(expected)));
}

struct Need {
  std::vector<std::size_t> ExpectedTask::*list;
  std::string_view of_which_step;
  std::function<bool(TaskId, TaskId)> is_before;
};

// Tasks that are missing are told elsewhere.
void check_needs(const CheckedGraph& checked, const Need& need, Findings& findings) {
  for (DeviceId device(0); device.position() < checked.graph.devices().size(); ++device) {
    const StageIndex stage = checked.graph.devices()[device.position()].stage;
    const std::vector<ExpectedTask> expected = expected_work(checked.model, checked.plan, stage, checked.graph.buckets()[stage.position()]);
    const TasksByKey tasks = tasks_of(checked, device);
    for (const ExpectedTask& task : expected)
      for (const std::size_t needed : task.*need.list) {
        const auto second = tasks.find(task.key), first = tasks.find(expected[needed].key);
        if (second == tasks.end() || first == tasks.end() || need.is_before(first->second, second->second)) continue;
        findings.add(fmt::format("{} does not wait for {}{}", name_of(checked.graph, checked.graph.task(second->second)),
                                 to_text(checked.graph.task(first->second).key), need.of_which_step));
      }
  }
}

}  // namespace

void check_work(const CheckedGraph& checked, Findings& findings) {
  for (DeviceId device(0); device.position() < checked.graph.devices().size(); ++device) {
    const StageIndex stage = checked.graph.devices()[device.position()].stage;
    check_tasks(checked, device, expected_work(checked.model, checked.plan, stage, checked.graph.buckets()[stage.position()]), findings);
    check_schedule(checked, device, findings);
  }
}

void check_needs(const CheckedGraph& checked, const TaskOrder& order, Findings& findings) {
  check_needs(checked, {&ExpectedTask::after, "", [&](TaskId first, TaskId second) { return order.is_before(first, second); }}, findings);
}

// Two steps, one behind the other; of the second, what it waits for in the first.
void check_needs_between_steps(const CheckedGraph& checked, Findings& findings) {
  const bool crosses =
      checked.plan.overlap_weight_gather || checked.plan.post_validation != PostValidation::None || checked.plan.partition_size > Bytes(0);
  if (crosses != checked.graph.crosses_steps()) findings.add("steps end at a barrier and the plan has them cross, or the other way round");
  if (!checked.graph.crosses_steps()) return;
  const TaskGraph two = repeated(checked.graph, {2});
  const TaskOrder order(two, stream_order(checked.plan));
  if (!order.circle().empty()) return findings.add("over two steps: " + order.circle());
  const auto num_tasks = static_cast<std::int32_t>(checked.graph.tasks().size());
  const auto is_before = [&](TaskId first, TaskId second) { return order.is_before(first, TaskId(num_tasks + second.value())); };
  check_needs(checked, {&ExpectedTask::after_before, " of the step before", is_before}, findings);
}

}  // namespace sim
