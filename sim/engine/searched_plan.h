// A pipeline's order made for the passes of just this plan: they are simulated, and the order with the least bubble is searched that holds what the
// plan's schedule holds (sim/schedule/searched_order.h). What is found goes into the plan as schedule csv: ParallelPlan::take_order.
#pragma once

#include <optional>
#include <vector>

#include "sim/engine/simulate.h"
#include "sim/plan/parallel_plan.h"
#include "sim/schedule/searched_order.h"

namespace sim {

// What keeps a plan from one: chunks, slices, a backward that may not be split. Empty: it has one.
std::vector<Violation> why_not_searched(const ParallelPlan& plan);

// Of a plan without the above. Passes are as the simulator has them under zb-1p, the middle one of all microbatches; so are what crosses stages and what a
// microbatch holds. A stage may hold what brings it to `most`: the peak of the fullest one under the plan's own schedule.
OrderProblem order_problem(const ModelGraph& model, const ParallelPlan& plan, Bytes most);

struct SearchedPlan {
  ParallelPlan plan;
  SimulationResult result;  // summary
};
// With the order of the above; `before`: the plan simulated. Nothing: no such order is faster with a peak that is no higher.
std::optional<SearchedPlan> with_searched_order(const ModelGraph& model, const ParallelPlan& plan, const SimulationResult& before);

}  // namespace sim
