// What each device's port carries over a simulated step.
#pragma once

#include <vector>

#include "sim/cost/simulated_step.h"
#include "sim/timeline/trace.h"

namespace sim {

// Ordered by device, then time; nothing of a device that uses no port.
std::vector<LoadSample> port_loads(const SimulatedStep& step);

}  // namespace sim
