// A step that was simulated, with what it was simulated from.
#pragma once

#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/task_graph.h"
#include "sim/timeline/dependencies.h"
#include "sim/timeline/timeline.h"

namespace sim {

struct SimulatedStep {  // all of it must outlive it
  const ModelGraph& model;
  const ParallelPlan& plan;
  const TaskGraph& graph;
  const Timeline& timeline;
  const Dependencies& explained;  // of graph and timeline
};

}  // namespace sim
