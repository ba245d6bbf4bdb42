// What `simulate` prints: the step and each device's share of it, with what its peak memory is made of.
#pragma once

#include <string>

#include "cli/console.h"
#include "sim/engine/simulate.h"

namespace cli {

std::string simulation_text(const sim::ParallelPlan& plan, const sim::SimulationResult& result, const Console& console);

// "activations 41 GiB, parameters 31.1 GiB, ...": descending, what is zero left out.
std::string composition_text(const sim::MemoryBreakdown& memory);

}  // namespace cli
