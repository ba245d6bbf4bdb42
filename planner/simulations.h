// Simulates several plans at once, on all cores.
#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "sim/engine/simulate.h"

namespace planner {

// By the places of the plans; none of those that `cancel` came before (null: it never does).
std::vector<std::optional<sim::SimulationResult>> simulate_all(const sim::ModelGraph& model, const std::vector<sim::ParallelPlan>& plans,
                                                               const std::atomic<bool>* cancel);

}  // namespace planner
