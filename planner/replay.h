// A step of a plan, layer by layer, with every task alone on its links: the planner's lower bound on the simulated step time.
// Walks the schedule with sums of prices instead of tasks and events, a thousand times faster than the engine.
//
// Admissible: streams run in issue order, hosts issue in that order, and dependencies are those of lower(), so every start is a maximum of sums of durations;
// the engine's durations are never shorter (links are shared there), hence its step never is. Where nothing shares a link: equal.
// Copies of block inputs to the host and back are left out: they only delay. Of steps that cross their norm (crosses_norm) it is no bound: busiest_time is.
#pragma once

#include "planner/plan_prices.h"
#include "planner/replay_stage.h"

namespace planner {

sim::SimTime replay(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const PlanPrices& prices, const StageOrders& orders);

}  // namespace planner
