// Collects tasks and edges of all devices, then freezes them into compressed rows.
#pragma once

#include <utility>
#include <vector>

#include "sim/task_graph/task_graph.h"

namespace sim {

class TaskGraphBuilder {
 public:
  struct Expected {
    std::size_t tasks = 0, edges = 0;
  };
  void reserve(Expected in_all);  // large graphs: saves growing step by step
  DeviceId add_device(const GraphDevice& device);
  TaskId add_task(Task task);  // at the end of its device's issue order
  void add_edge(TaskId before, TaskId after);
  void add_edge_between_steps(TaskId before, TaskId after);  // `before` of the step before
  std::int32_t add_rendezvous();                             // a number for Task::rendezvous
  void join(TaskId task, std::int32_t rendezvous);           // one more member
  void pair(TaskId sends, TaskId receives);                  // edge, and each other's device as peer
  void set_fold(const Fold& fold);
  void set_credit(Bytes credit) { graph_.credit_ = credit; }
  void set_buckets(std::vector<std::vector<Bucket>> by_stage);
  const Task& task(TaskId id) const { return graph_.tasks_[id.position()]; }
  std::int32_t num_tasks() const { return static_cast<std::int32_t>(graph_.tasks_.size()); }
  TaskGraph freeze() &&;

 private:
  TaskGraph graph_;
  std::vector<std::pair<std::size_t, std::size_t>> edges_;
};

}  // namespace sim
