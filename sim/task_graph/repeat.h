// The graph of several steps, one behind the other: of plans whose steps cross.
#pragma once

#include "sim/task_graph/task_graph.h"

namespace sim {

struct Steps {
  std::int32_t count = 1;
};

// Task t of step k is task k * step.tasks().size() + t. Streams run on from step to step; else only edges_between_steps() order them.
TaskGraph repeated(const TaskGraph& step, Steps steps);

}  // namespace sim
