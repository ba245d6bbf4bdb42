#include "sim/task_graph/task_graph_builder.h"

#include "sim/units/at.h"

namespace sim {

void TaskGraphBuilder::reserve(Expected in_all) {
  graph_.tasks_.reserve(in_all.tasks);
  edges_.reserve(in_all.edges);
}

DeviceId TaskGraphBuilder::add_device(const GraphDevice& device) {
  graph_.devices_.push_back(device);
  graph_.order_.emplace_back();
  return DeviceId(static_cast<std::int32_t>(graph_.devices_.size()) - 1);
}

TaskId TaskGraphBuilder::add_task(Task task) {
  const TaskId id(num_tasks());
  graph_.order_[task.device.position()].push_back(id);
  graph_.tasks_.push_back(std::move(task));
  return id;
}

void TaskGraphBuilder::add_edge(TaskId before, TaskId after) { edges_.emplace_back(before.position(), after.position()); }

void TaskGraphBuilder::add_edge_between_steps(TaskId before, TaskId after) { graph_.edges_between_steps_.emplace_back(before, after); }

std::int32_t TaskGraphBuilder::add_rendezvous() {
  graph_.rendezvous_sizes_.push_back(0);
  return static_cast<std::int32_t>(graph_.rendezvous_sizes_.size()) - 1;
}

void TaskGraphBuilder::join(TaskId task, std::int32_t rendezvous) {
  graph_.tasks_[task.position()].rendezvous = rendezvous;
  ++sim::at(graph_.rendezvous_sizes_, rendezvous);
}

void TaskGraphBuilder::pair(TaskId sends, TaskId receives) {
  Task& from = graph_.tasks_[sends.position()];
  Task& to = graph_.tasks_[receives.position()];
  from.peer = to.device;
  to.peer = from.device;
  add_edge(sends, receives);
}

void TaskGraphBuilder::set_fold(const Fold& fold) { graph_.fold_ = fold; }

void TaskGraphBuilder::set_buckets(std::vector<std::vector<Bucket>> by_stage) { graph_.buckets_ = std::move(by_stage); }

TaskGraph TaskGraphBuilder::freeze() && {
  graph_.edges_ = TaskGraph::Graph(boost::edges_are_unsorted_multi_pass, edges_.begin(), edges_.end(), graph_.tasks_.size());
  return std::move(graph_);
}

}  // namespace sim
