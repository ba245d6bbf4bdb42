// What the cores of a node take where its ranks share them (CPUs): ranks that compute at once slow each other, which no bound of a stage by itself knows.
//
//   capacity 1   |__                       ___|     work of all ranks of the node, and what nobody can use: before a stage has anything to compute,
//                |  |__ _________________|    |     and behind its last backward while others have theirs
//                 fill        work        drain
//
// Admissible: speeds of tasks times their shares of the cores are never above 1 together (sim/engine/link_sharing.h), and stages begin no sooner, nor drain
// faster, than alone.
#pragma once

#include <span>

#include "planner/plan_prices.h"
#include "planner/sketch.h"

namespace planner {

// The end of the last backward. core_share: of a node's cores, what one rank takes; 0: bounds nothing. Not of plans whose steps cross.
sim::SimTime cores_time(const sim::ParallelPlan& plan, double core_share, std::span<const StageSketch> stages);

// From where all ranks agree on the norm: their updates.
sim::SimTime cores_time_of_updates(const sim::ParallelPlan& plan, double core_share, std::span<const StageStepPrices> steps);

}  // namespace planner
