// How likely a simulated plan runs out of memory: of its devices the one that is most likely to.
#pragma once

#include "sim/engine/simulate.h"

namespace sim {

double out_of_memory_chance(const ParallelPlan& plan, const SimulationResult& result, Bytes limit);  // limit: of a device
double out_of_memory_chance(const ParallelPlan& plan, const SimulationResult& result);               // of what the cluster's devices have

}  // namespace sim
