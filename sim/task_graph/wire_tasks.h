// A step of a reduction or a gather (sim/sharding/encoded.h) as a task.
#pragma once

#include "sim/sharding/encoded.h"
#include "sim/task_graph/task.h"

namespace sim {

// `task` says all but the operation; its sequence is the bucket's number among so many.
inline Task of_step(Task task, const WireStep& step, std::size_t buckets) {
  task.key.operation = step.operation;
  task.key.group = step.group;
  task.key.sequence += step.round * static_cast<std::int32_t>(buckets);
  task.payload = step.payload;
  return task;
}

}  // namespace sim
