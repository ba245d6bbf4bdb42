#include "planner/memory_bound.h"

#include <algorithm>
#include <array>

#include "sim/sharding/sharding.h"

namespace planner {
namespace {

using sim::ActionKind;
using sim::Bytes;
using sim::LayerIndex;

// What one action of a chunk does to memory. Peaks are relative to what was alive when it began.
struct ActionMemory {
  Bytes change{};
  Bytes peak{};       // of all but its last layer, the next gathered unit included
  Bytes last_peak{};  // while its last layer runs; the unit gathered meanwhile belongs to the next action
  LayerIndex first_layer, last_layer;
};

// Which run of the chunk an action is: the first takes what stays for the step (gradients, kept units), the last frees it.
struct Run {
  bool first = false, last = false;
};

class StageWalk {
 public:
  StageWalk(const sim::ParallelPlan& plan, const ActivationMemory& activations, const StageWeights& weights, sim::StageIndex stage)
      : plan_(plan),
        microbatches_(plan.num_microbatches()),
        activations_(activations),
        weights_(weights),
        stage_(stage),
        gathers_(plan.mesh.data > 1 && sim::sharding_strategy(plan).shards_parameters),
        frees_gradients_(plan.mesh.data > 1 && sim::sharding_strategy(plan).shards_gradients) {}

  Bytes peak(const std::vector<sim::StageAction>& order);  // the most beyond what is resident

 private:
  struct Chunk {
    std::array<ActionMemory, 2> forward;                  // [is first]
    std::array<std::array<ActionMemory, 2>, 2> backward;  // [is first][is last]
    std::int64_t forwards = 0, backwards = 0;             // done
  };
  Chunk chunk(sim::ChunkIndex index) const;
  ActionMemory action(sim::ChunkIndex chunk, ActionKind kind, Run run) const;
  const ActionMemory& next(const std::vector<Chunk>& chunks, const sim::StageAction& action) const;
  const LayerMemory& memory(LayerIndex layer, ActionKind kind) const;
  Bytes passing_unit(LayerIndex layer) const;  // gathered for one visit
  bool is_head(LayerIndex layer) const { return layer.position() + 1 == weights_.by_layer.size(); }

  const sim::ParallelPlan& plan_;
  std::int64_t microbatches_;
  const ActivationMemory& activations_;
  const StageWeights& weights_;
  sim::StageIndex stage_;
  bool gathers_, frees_gradients_;
};

const LayerMemory& StageWalk::memory(LayerIndex layer, ActionKind kind) const {
  const LayerMemories& memories = layer == LayerIndex(0) ? activations_.embedding : is_head(layer) ? activations_.head : activations_.block;
  return kind == ActionKind::Forward ? memories.forward : memories.backward;
}

// On one stage the head of a model with tied embeddings gathers the embedding too.
Bytes StageWalk::passing_unit(LayerIndex layer) const {
  if (!gathers_ || !plan_.reshard_after_forward) return {};
  const bool reads_embedding = is_head(layer) && plan_.model.tied_embeddings && plan_.mesh.pipeline == 1;
  return weights_.by_layer[layer.position()] + (reads_embedding ? weights_.by_layer.front() : Bytes{});
}

ActionMemory StageWalk::action(sim::ChunkIndex chunk, ActionKind kind, Run run) const {
  const bool forward = kind == ActionKind::Forward;
  const sim::LayerRange range = plan_.layers(stage_, chunk);
  const std::int32_t virtual_stage = chunk.value() * plan_.mesh.pipeline + stage_.value(), end = plan_.mesh.pipeline * plan_.chunks - 1;
  const LayerIndex bottom = range.begin, top(range.end.value() - 1);
  ActionMemory all{.first_layer = forward ? bottom : top, .last_layer = forward ? top : bottom};
  const bool keeps_units = gathers_ && !plan_.reshard_after_forward;
  Bytes alive = virtual_stage == (forward ? 0 : end) ? Bytes{} : activations_.received;
  for (LayerIndex layer = all.first_layer;; layer = LayerIndex(layer.value() + (forward ? 1 : -1))) {
    const Bytes weights = weights_.by_layer[layer.position()];
    const bool is_last = layer == all.last_layer;
    const Bytes next_unit = is_last ? Bytes{} : passing_unit(LayerIndex(layer.value() + (forward ? 1 : -1)));
    if (run.first && (forward ? keeps_units : frees_gradients_)) alive += weights;
    Bytes& peak = is_last ? all.last_peak : all.peak;
    peak = std::max(peak, alive + memory(layer, kind).peak + passing_unit(layer) + next_unit);
    alive += memory(layer, kind).change;
    if (run.last && !forward) alive -= weights * ((keeps_units ? 1 : 0) + (frees_gradients_ ? 1 : 0));
    if (is_last) break;
  }
  all.change = alive - (virtual_stage == (forward ? end : 0) ? Bytes{} : activations_.received);
  return all;
}

StageWalk::Chunk StageWalk::chunk(sim::ChunkIndex index) const {
  Chunk chunk;
  for (const bool first : {false, true}) {
    chunk.forward[first] = action(index, ActionKind::Forward, {.first = first});
    for (const bool last : {false, true}) chunk.backward[first][last] = action(index, ActionKind::Backward, {.first = first, .last = last});
  }
  return chunk;
}

const ActionMemory& StageWalk::next(const std::vector<Chunk>& chunks, const sim::StageAction& action) const {
  const Chunk& chunk = chunks[action.chunk.position()];
  if (action.kind == ActionKind::Forward) return chunk.forward[chunk.forwards == 0];
  return chunk.backward[chunk.backwards == 0][chunk.backwards + 1 == microbatches_];
}

Bytes StageWalk::peak(const std::vector<sim::StageAction>& order) {
  std::vector<Chunk> chunks;
  for (sim::ChunkIndex index{0}; index.value() < plan_.chunks; ++index) chunks.push_back(chunk(index));
  Bytes alive{}, most{};
  for (std::size_t at = 0; at < order.size(); ++at) {
    const ActionMemory& now = next(chunks, order[at]);
    Chunk& chunk = chunks[order[at].chunk.position()];
    ++(order[at].kind == ActionKind::Forward ? chunk.forwards : chunk.backwards);
    Bytes next_unit{};
    if (gathers_ && at + 1 < order.size()) {
      const LayerIndex next_layer = next(chunks, order[at + 1]).first_layer;
      if (next_layer != now.last_layer) next_unit = passing_unit(next_layer);
    }
    most = std::max({most, alive + now.peak, alive + now.last_peak + next_unit});
    alive += now.change;
  }
  return most;
}

}  // namespace

MemoryBound memory_bound(const sim::ParallelPlan& plan, const ActivationMemory& activations, const std::vector<StageWeights>& weights,
                         const StageOrders& orders) {
  MemoryBound bound;
  for (std::size_t stage = 0; stage < weights.size(); ++stage) {
    const Bytes working =
        StageWalk(plan, activations, weights[stage], sim::StageIndex(static_cast<std::int32_t>(stage))).peak(orders[stage]);
    const Bytes peak = total(weights[stage].resident) + working;
    if (peak <= bound.peak) continue;
    bound = {.peak = peak, .resident = weights[stage].resident, .working = working};
  }
  return bound;
}

}  // namespace planner
