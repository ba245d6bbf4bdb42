// The first task of a kind in a graph, of any group unless one is given.
#pragma once

#include <algorithm>
#include <optional>

#include "sim/task_graph/task_graph.h"

namespace sim::testing {

inline const Task& find(const TaskGraph& graph, Phase phase, Operation operation, std::optional<MeshAxis> group = {}) {
  return *std::find_if(graph.tasks().begin(), graph.tasks().end(), [&](const Task& task) {
    return task.key.phase == phase && task.key.operation == operation && task.key.group == group.value_or(task.key.group);
  });
}

}  // namespace sim::testing
