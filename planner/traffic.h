// What plans of one mesh carry over their links, learned from the one whose buckets were priced first: other cuts, chunks and microbatches move the same weights
// and gradients. Where these move with every microbatch they may take several times what is computed, of which the first bounds alone know.
#pragma once

#include <vector>

#include "planner/plan_prices.h"

namespace planner {

struct Traffic {                  // of all stages together
  LinkLoad reduced{};             // all gradients, once
  LinkLoad gathered{};            // all units, once forward and once backward
  std::vector<LinkLoad> largest;  // [n]: of it, the n units that take most
  double evenness = 1;            // what a stage's link takes for the same, as a share of another's, at least
};
Traffic traffic_of(const sim::ParallelPlan& plan, const sim::TaskGraph& devices, const std::vector<StageStepPrices>& steps);

// Of a plan with the same mesh and words of sharding, whatever its cut: some stage carries its even share or more. A unit that an action ends with may stay for
// the next action: a chunk's last from forward to backward, its first from there to another forward.
sim::SimTime least_time(const Traffic& traffic, const sim::ParallelPlan& plan);

}  // namespace planner
