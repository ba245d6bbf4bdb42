// Why one simulated plan is slower than another, from their numbers.
#pragma once

#include <vector>

#include "planner/reason.h"
#include "sim/engine/simulate.h"

namespace planner {

// The excess of the step time, split into what the devices did with it: computing, waiting (bubble), waiting for communication.
std::vector<Reason> why_not_best(const sim::SimulationResult& plan, const sim::SimulationResult& best);

}  // namespace planner
