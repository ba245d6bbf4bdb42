#include "sim/engine/out_of_memory.h"

#include <algorithm>

#include "sim/cost/memory_interval.h"

namespace sim {

double out_of_memory_chance(const ParallelPlan& plan, const SimulationResult& result, Bytes limit) {
  double chance = 0;
  for (const DeviceResult& device : result.devices)
    chance = std::max(chance, memory_interval(plan, device.at_peak).chance_above(device.peak_memory, limit));
  return chance;
}

double out_of_memory_chance(const ParallelPlan& plan, const SimulationResult& result) {
  return out_of_memory_chance(plan, result, usable_memory(plan.cluster));
}

}  // namespace sim
