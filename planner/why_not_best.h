// Why one simulated plan is slower than another, from their numbers.
#pragma once

#include <vector>

#include "planner/objective.h"
#include "planner/reason.h"
#include "sim/engine/simulate.h"

namespace planner {

// The excess of the step time, split into what the devices did with it: computing, waiting (bubble), waiting for communication.
std::vector<Reason> why_not_best(const sim::SimulationResult& plan, const sim::SimulationResult& best);

struct Measured {
  double measure = 0;  // what it is ranked by
  const sim::SimulationResult& result;
};
// What it is behind by, then what its step has to do with it.
std::vector<Reason> why_behind(Objective objective, const Measured& plan, const Measured& best);

}  // namespace planner
