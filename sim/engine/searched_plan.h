// A pipeline's order made for the passes of just this plan: they are simulated, and the order with the least bubble is searched that holds what the
// plan's schedule may hold (sim/schedule/searched_order.h). What is found goes into the plan as schedule csv: ParallelPlan::take_order.
#pragma once

#include <vector>

#include "sim/plan/parallel_plan.h"
#include "sim/schedule/searched_order.h"

namespace sim {

// What keeps a plan from one: chunks, slices, a backward that may not be split. Empty: it has one.
std::vector<Violation> why_not_searched(const ParallelPlan& plan);

// Of a plan without the above. Passes are as the simulator has them under zb-1p, the middle one of all microbatches; what crosses stages as its transfers.
// Held: the memory of 1f1b's first stage, of zb-2p twice of it.
OrderProblem order_problem(const ModelGraph& model, const ParallelPlan& plan);

}  // namespace sim
