// The least memory that a plan's fullest rank can have at its peak: the planner's lower bound on the simulated peak. Used by evaluator.
// Walks each stage's order of forwards and backwards with what each layer takes and frees, taken from the memory model that the engine
// uses. What depends on timing (early receives, late sends, waiting reductions) is left out, so the engine's peak is never below.
#pragma once

#include <vector>

#include "planner/replay.h"
#include "sim/sharding/sharding.h"
#include "sim/timeline/timeline.h"

namespace planner {

struct LayerMemory {                    // of one microbatch in one layer
  sim::Bytes change{};                  // alive after it, beyond what was alive before
  sim::Bytes peak{};                    // the most alive while it runs, beyond what was alive before
};

struct LayerMemories {
  LayerMemory forward, backward;        // backward includes what is computed again
};

// Depends on mesh, microbatch, sequence parallel and recompute.
struct ActivationMemory {
  LayerMemories embedding, block, head;
  sim::Bytes received{};                // what a transfer brings
};
ActivationMemory activation_memory(const sim::ModelGraph& model, const sim::ParallelPlan& plan);

// Depends on mesh, cut, chunks and ZeRO stage. By stage.
struct StageWeights {
  sim::MemoryBreakdown resident{};
  std::vector<sim::Bytes> by_layer;     // weights (= gradients) of each of the model's layers; zero where another stage owns it
};
std::vector<StageWeights> stage_weights(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const std::vector<std::vector<sim::Bucket>>& buckets);

struct MemoryBound {
  sim::Bytes peak{};
  sim::MemoryBreakdown resident{};      // of the fullest stage
  sim::Bytes working{};                 // beside it: activations, gathered units, gradients before their reduction
};
MemoryBound memory_bound(const sim::ParallelPlan& plan, const ActivationMemory& activations, const std::vector<StageWeights>& weights,
                         const StageOrders& orders);

}  // namespace planner
