// What must come before what in a task graph: by its edges, its streams, and the meetings of its collectives. Finds tasks that wait
// for each other in a circle, and answers for two tasks of a device whether the first has always ended when the second starts.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "sim/task_graph/task_graph.h"

namespace sim {

class TaskOrder {
 public:
  // in_order: a device performs all of its streams in issue order, as ranks that do not overlap communication do.
  TaskOrder(const TaskGraph& graph, StreamOrder order);

  // "A waits for B, which waits for A"; empty when there is no circle. The rest may be asked only then.
  const std::string& circle() const { return circle_; }
  // Both of one device; by edges and streams, whatever the hardware overlaps.
  bool is_before(TaskId first, TaskId second) const;

 private:
  // Tasks of one rendezvous are one vertex: num_tasks + its number.
  std::size_t vertex_of(std::size_t task) const;
  void link_streams(StreamOrder order);
  void link_edges();
  void sort();
  std::string name_circle(const std::vector<std::size_t>& component, std::size_t inside) const;
  void set_clocks(const std::vector<std::size_t>& sorted);
  void pass_on(TaskId from, TaskId to);

  const TaskGraph& graph_;
  std::vector<std::pair<std::size_t, std::size_t>> links_;    // between vertices
  std::vector<std::int32_t> place_;                           // by task: in its stream, from 1; 0: the stream gives it none
  std::vector<std::int32_t> next_in_stream_;                  // by task; -1: the last
  std::vector<std::array<std::int32_t, kNumStreams>> ended_;  // by task: of each stream of its device, when it starts
  std::string circle_;
};

}  // namespace sim
