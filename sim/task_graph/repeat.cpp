#include "sim/task_graph/repeat.h"

#include "sim/task_graph/task_graph_builder.h"
#include "sim/units/at.h"

namespace sim {

TaskGraph repeated(const TaskGraph& step, Steps steps) {
  const auto size = static_cast<std::int32_t>(step.tasks().size());
  const std::size_t meetings = step.rendezvous_sizes().size();
  TaskGraphBuilder graph;
  graph.reserve({.tasks = step.tasks().size() * count_of(steps.count), .edges = boost::num_edges(step.edges()) * count_of(steps.count)});
  for (const GraphDevice& device : step.devices()) graph.add_device(device);
  for (std::int32_t at = 0; at < steps.count; ++at) {
    for (std::size_t each = 0; each < meetings; ++each) graph.add_rendezvous();
    for (Task task : step.tasks()) {
      const std::int32_t meeting = task.rendezvous;
      const TaskId id = graph.add_task(std::move(task));
      if (meeting >= 0) graph.join(id, meeting + at * static_cast<std::int32_t>(meetings));
    }
    for (std::size_t from = 0; from < step.tasks().size(); ++from) {
      const auto [begin, end] = boost::adjacent_vertices(from, step.edges());
      for (auto to = begin; to != end; ++to)
        graph.add_edge(TaskId(at * size + static_cast<std::int32_t>(from)), TaskId(at * size + static_cast<std::int32_t>(*to)));
    }
    for (const auto& [before, after] : step.edges_between_steps())
      if (at > 0) graph.add_edge(TaskId((at - 1) * size + before.value()), TaskId(at * size + after.value()));
  }
  graph.set_fold(step.fold());
  graph.set_credit(step.credit());
  graph.set_buckets(step.buckets());
  return std::move(graph).freeze();
}

}  // namespace sim
