// What a layer takes and frees in each direction, and what a stage holds whatever runs: the input of memory_bound. Taken from the memory
// model that the engine uses. Knows no schedule.
#pragma once

#include <vector>

#include "sim/model/model_graph.h"
#include "sim/plan/parallel_plan.h"
#include "sim/sharding/sharding.h"
#include "sim/timeline/timeline.h"

namespace planner {

struct LayerMemory {    // of one microbatch in one layer
  sim::Bytes change{};  // alive after it, beyond what was alive before
  sim::Bytes peak{};    // the most alive while it runs, beyond what was alive before
};

struct LayerMemories {
  LayerMemory forward, backward;  // backward: its change includes what is computed again
  sim::Bytes recompute_peak{};    // while that is, before the gradients of its weights begin
  LayerMemory weight;             // where the schedule splits it off
  sim::Bytes received{};          // what a transfer brings it
};

// Depends on mesh, microbatch, sequence parallel and recompute. Not on the cut, which says what blocks recompute_scope means: of blocks that are computed again
// as a whole, and of those that are not.
struct ActivationMemory {
  sim::ByLayerKind<LayerMemories> layers;
  sim::ByLayerKind<LayerMemories>
      whole;  // of backwards that run as one though the schedule splits others (sim/cost/whole_backwards.h); else empty
  sim::ByLayerKind<LayerMemories> spared, spared_whole;  // of blocks, or microbatches, that recompute_scope leaves out; else empty
  bool messages_held = false;                            // activations come into a place that is resident, and gradients that leave stay
};
// Whether gradients of weights run piece by piece beside the backward of the layers below: how long they wait is not known, and none of a bound.
bool weights_in_turn(const sim::ParallelPlan& plan);
ActivationMemory activation_memory(const sim::ModelGraph& model, const sim::ParallelPlan& plan);

// Depends on mesh, cut, chunks, ZeRO stage and on whether each microbatch is reduced. By stage.
struct StageWeights {
  sim::MemoryBreakdown resident{};   // but what a step's data take, which depends on the words of its work
  std::vector<sim::Bytes> by_layer;  // weights that come and go, of each of the model's layers; zero where another stage owns it
  std::vector<sim::Bytes> gradients_begin,
      gradients_end;                       // by layer: of the buckets whose gradients come with its backward, and are complete after it
  std::vector<sim::Bytes> tied_gradients;  // by layer: that come with its first backward, and stay until all backwards are done
  std::vector<sim::Bytes>
      of_all_shards;  // by first layer of a unit: of its weights, those that are no expert's; neighbours may keep them after forward
  std::vector<sim::Bytes>
      first_bucket;  // by first layer of a unit: of its weights, those gathered first. A tied weight has a bucket of its own, and its gather may come late
};
std::vector<StageWeights> stage_weights(const sim::ModelGraph& model, const sim::ParallelPlan& plan,
                                        const std::vector<std::vector<sim::Bucket>>& buckets);

}  // namespace planner
