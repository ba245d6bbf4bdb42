#include "sim/task_graph/repeat.h"

#include <algorithm>
#include <utility>

#include "sim/plan/scaled_products.h"
#include "sim/task_graph/task_graph_builder.h"
#include "sim/units/at.h"

namespace sim {
namespace {

bool is_meeting(const TaskKey& key) {
  return key.phase == Phase::Step && key.operation == Operation::AllReduce && key.group == MeshAxis::World && key.sequence != kOfMaxima;
}

// Copies tasks of a step into a graph, any number of times; the members of a copy meet for themselves.
class Copies {
 public:
  Copies(const TaskGraph& step, TaskGraphBuilder& graph) : step_(step), graph_(graph), ids_(step.tasks().size()) {}
  void begin() {
    std::ranges::fill(ids_, TaskId::none());
    first_meeting_ = std::exchange(next_meeting_, next_meeting_ + static_cast<std::int32_t>(std::ssize(step_.rendezvous_sizes())));
    for (std::int32_t meeting = first_meeting_; meeting < next_meeting_; ++meeting) graph_.add_rendezvous();
  }
  void add(TaskId original) {
    Task task = step_.task(original);
    const std::int32_t meeting = task.rendezvous;
    const TaskId id = ids_[original.position()] = graph_.add_task(std::move(task));
    if (meeting >= 0) graph_.join(id, first_meeting_ + meeting);
  }
  void add_all() {
    begin();
    for (TaskId task(0); task.position() < ids_.size(); ++task) add(task);
    add_edges();
  }
  void add_edges() {
    for (std::size_t from = 0; from < ids_.size(); ++from) {
      if (!ids_[from].exists()) continue;
      const auto [begin, end] = boost::adjacent_vertices(from, step_.edges());
      for (auto to = begin; to != end; ++to)
        if (ids_[*to].exists()) graph_.add_edge(ids_[from], ids_[*to]);
    }
  }
  const std::vector<TaskId>& ids() const { return ids_; }

 private:
  const TaskGraph& step_;
  TaskGraphBuilder& graph_;
  std::vector<TaskId> ids_;  // by task of the step: of its newest copy, or none
  std::int32_t first_meeting_ = 0, next_meeting_ = 0;
};

// What edges between steps lead from, in the copy before, to the newest one.
void join_steps(const TaskGraph& step, const std::vector<TaskId>& before, const std::vector<TaskId>& now, TaskGraphBuilder& graph) {
  for (const auto& [from, to] : step.edges_between_steps()) graph.add_edge(before[from.position()], now[to.position()]);
}

TaskGraph finished(const TaskGraph& step, TaskGraphBuilder graph) {
  graph.set_fold(step.fold());
  graph.set_credit(step.credit());
  graph.set_buckets(step.buckets());
  return std::move(graph).freeze();
}

}  // namespace

TaskId meeting_of(const TaskGraph& step, DeviceId device) {
  const auto order = step.issue_order(device);
  const auto found = std::find_if(order.rbegin(), order.rend(), [&](TaskId task) { return is_meeting(step.task(task).key); });
  return found == order.rend() ? TaskId::none() : *found;
}

bool steps_meet(const TaskGraph& step) {
  if (!step.crosses_steps()) return false;
  std::vector<TaskId> meetings;
  for (DeviceId device(0); device.position() < step.devices().size(); ++device) meetings.push_back(meeting_of(step, device));
  const auto is_behind = [&](const auto& edge) { return edge.first > meetings[step.task(edge.first).device.position()]; };
  return std::ranges::all_of(meetings, &TaskId::exists) && std::ranges::all_of(step.edges_between_steps(), is_behind);
}

MetStep behind_meeting(const TaskGraph& step) {
  MetStep met;
  TaskGraphBuilder graph;
  for (const GraphDevice& device : step.devices()) graph.add_device(device);
  Copies copies(step, graph);
  copies.begin();
  for (DeviceId device(0); device.position() < step.devices().size(); ++device) {
    const TaskId meeting = meeting_of(step, device);
    for (const TaskId task : step.issue_order(device)) {
      if (task <= meeting) continue;
      copies.add(task);
      met.front.push_back(task.value());
    }
  }
  copies.add_edges();
  const std::vector<TaskId> before = copies.ids();
  copies.add_all();
  join_steps(step, before, copies.ids(), graph);
  met.graph = finished(step, std::move(graph));
  return met;
}

TaskGraph repeated(const TaskGraph& step, Steps steps) {
  TaskGraphBuilder graph;
  graph.reserve({.tasks = step.tasks().size() * count_of(steps.count), .edges = boost::num_edges(step.edges()) * count_of(steps.count)});
  for (const GraphDevice& device : step.devices()) graph.add_device(device);
  Copies copies(step, graph);
  for (std::int32_t at = 0; at < steps.count; ++at) {
    const std::vector<TaskId> before = copies.ids();
    copies.add_all();
    if (at > 0) join_steps(step, before, copies.ids(), graph);
  }
  return finished(step, std::move(graph));
}

}  // namespace sim
