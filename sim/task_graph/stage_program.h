// What one pipeline stage does in one step, in issue order, with the dependencies between its own tasks.
#pragma once

#include <utility>
#include <vector>

#include "sim/plan/parallel_plan.h"
#include "sim/sharding/sharding.h"
#include "sim/task_graph/task.h"

namespace sim {

struct StageProgram {
  std::vector<Task> tasks;                                           // in issue order; device, peer and rendezvous still open
  using Edges = std::vector<std::pair<std::int32_t, std::int32_t>>;  // positions in tasks: second starts after first ended
  Edges edges, edges_between_steps;                                  // between steps: first of the step before
};

StageProgram make_stage_program(const ModelGraph& model, const ParallelPlan& plan, StageIndex stage, const std::vector<Bucket>& buckets);

}  // namespace sim
