// Simulates several plans at once, on all cores.
#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "sim/engine/simulate.h"
#include "sim/units/input_error.h"

namespace planner {

struct Simulated {
  std::optional<sim::SimulationResult> result;
  std::optional<sim::InputError> refused;  // its step is longer than the clock
};
// By the places of the plans; nothing of those that `cancel` came before (null: it never does).
std::vector<Simulated> simulate_all(const sim::ModelGraph& model, const std::vector<sim::ParallelPlan>& plans,
                                    const std::atomic<bool>* cancel);

}  // namespace planner
