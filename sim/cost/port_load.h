// What each device's port carries over a simulated step. Used by who draws or writes it: the timeline view, trace files.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/task_graph.h"
#include "sim/timeline/trace.h"

namespace sim {

struct SimulatedStep {
  const ModelGraph& model;
  const ParallelPlan& plan;
  const TaskGraph& graph;
  const Timeline& timeline;
  const std::vector<std::int64_t>& span_of;  // by task: its span; -1: none (Dependencies)
};
// Ordered by device, then time; nothing of a device that uses no port.
std::vector<LoadSample> port_loads(const SimulatedStep& step);

}  // namespace sim
