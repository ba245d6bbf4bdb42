// What a simulated step is made of: the tasks of its critical path, each as often as its price stands there. A step is as long as its longest path, so
// while that path stays the longest one its time at other prices is the same sum: the slope of a step by any constant of a profile costs a few prices
// instead of another simulation.
//
//   step = 3 x forward.attention + 3 x forward.mlp + 2.4 x gradients.reduce_scatter + ...      2.4: two, which shared their link for a while
//
// Where steps cross, it is the path through a cycle of them, shared by its steps.
//
// What it does not see: links that are shared differently at other prices, and another path that becomes the longest: there the sum is too small.
#pragma once

#include <vector>

#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/task_graph.h"
#include "sim/units/sim_time.h"

namespace sim {

struct PathPrice {
  TaskId task;        // one of those with this price
  double times = 0;   // how often it stands on the path; more where a shared link stretched it
  double beside = 0;  // of them: how often a collective and kernels ran beside each other, and slowed each other
  double issued = 0;  // how often the time in which the host issues one stands there
};
struct StepPath {
  SimTime step_time{};
  std::vector<PathPrice> prices;  // in the order of the path, from its end
};

// As simulate(), without memory. The graph is that of the plan.
StepPath simulated_path(const ModelGraph& model, const ParallelPlan& plan, const TaskGraph& graph);

// The path at the prices of `plan`, which may differ from the simulated one in constants of its profiles alone.
Seconds time_along(const StepPath& path, const ModelGraph& model, const ParallelPlan& plan, const TaskGraph& graph);

}  // namespace sim
