// The least memory that a plan's fullest rank can have at its peak: the planner's lower bound on the simulated peak.
// Walks each stage's order of forwards and backwards with what each layer takes and frees, taken from the memory model that the engine
// uses. What depends on timing (early receives, late sends, waiting reductions) is left out, so the engine's peak is never below.
#pragma once

#include <vector>

#include "planner/layer_memory.h"
#include "planner/replay_stage.h"

namespace planner {

struct MemoryBound {
  sim::Bytes peak{};
  sim::MemoryBreakdown resident{};  // of the fullest stage
  sim::Bytes working{};             // beside it: activations, gathered units, gradients before their reduction
};
MemoryBound memory_bound(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const ActivationMemory& activations,
                         const std::vector<StageWeights>& weights, const StageOrders& orders);

// Of it, what activations take on the first stage, whose order it is, beside weights and gradients of any kind.
sim::Bytes first_working_memory(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const ActivationMemory& activations,
                                const std::vector<sim::StageAction>& order);

}  // namespace planner
