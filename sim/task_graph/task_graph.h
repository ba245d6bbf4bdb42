// Tasks in order, without costs. Made by lower(), read by the engine (times), the executor (a rank's slice) and the checkers.
#pragma once

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <span>
#include <utility>
#include <vector>

#include "sim/plan/parallel_plan.h"
#include "sim/sharding/sharding.h"
#include "sim/task_graph/fold.h"
#include "sim/task_graph/task.h"

namespace sim {

struct GraphDevice {
  Rank representative;  // the rank itself, or the first of its class
  StageIndex stage;
  std::int32_t multiplicity = 1;  // ranks of the class
};

class TaskGraph {
 public:
  using Graph = boost::compressed_sparse_row_graph<boost::directedS>;

  std::span<const Task> tasks() const { return tasks_; }  // position = TaskId
  const Task& task(TaskId id) const { return tasks_[id.position()]; }
  std::span<const GraphDevice> devices() const { return devices_; }
  const Fold& fold() const { return fold_; }                                                        // which ranks a device stands for
  std::span<const TaskId> issue_order(DeviceId device) const { return order_[device.position()]; }  // of all its streams
  // u -> v: v of a step starts after u of the step before ended. None: a step begins when the one before has ended.
  std::span<const std::pair<TaskId, TaskId>> edges_between_steps() const { return edges_between_steps_; }
  bool crosses_steps() const { return !edges_between_steps_.empty(); }
  Bytes credit() const { return credit_; }       // of tasks with a priority one starts while fewer bytes are under way
  const Graph& edges() const { return edges_; }  // u -> v: v starts after u ended. Issue order within a stream is implied
  std::span<const std::int32_t> rendezvous_sizes() const { return rendezvous_sizes_; }
  const std::vector<std::vector<Bucket>>& buckets() const { return buckets_; }  // by stage

 private:
  friend class TaskGraphBuilder;
  std::vector<Task> tasks_;
  std::vector<GraphDevice> devices_;
  Fold fold_;
  std::vector<std::vector<TaskId>> order_;
  std::vector<std::int32_t> rendezvous_sizes_;
  std::vector<std::vector<Bucket>> buckets_;
  std::vector<std::pair<TaskId, TaskId>> edges_between_steps_;
  Bytes credit_{};
  Graph edges_;
};

inline StreamOrder stream_order(const ParallelPlan& plan) {
  if (!plan.cluster.hardware.overlaps_communication) return StreamOrder::InOrder;
  const SoftwareStack& software = plan.cluster.software;  // without a name: ours, which overlaps
  return software.name.empty() || software.overlap_reduce ? StreamOrder::Overlapping : StreamOrder::ReduceInOrder;
}

// Deterministic and free of costs. The plan must have no violations().
TaskGraph lower(const ModelGraph& model, const ParallelPlan& plan, const Fold& fold = Fold::Symmetric);

// The tasks that `rank` performs in one step, in issue order: what its trace must show, key by key.
std::vector<Task> rank_slice(const TaskGraph& folded, const ParallelPlan& plan, Rank rank);

}  // namespace sim
