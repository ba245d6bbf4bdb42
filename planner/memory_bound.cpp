#include "planner/memory_bound.h"

#include <algorithm>
#include <array>

#include "sim/cost/memory_model.h"
#include "sim/cost/resident_memory.h"
#include "sim/task_graph/layer_tasks.h"
#include "sim/task_graph/task_graph_builder.h"

namespace planner {
namespace {

using sim::ActionKind;
using sim::Bytes;
using sim::LayerIndex;
using sim::MemoryCategory;
using sim::Phase;

// Follows one chain of tasks.
class Walk {
 public:
  void add(const sim::MemoryEffect& effect) {
    const Bytes during = alive_ + sum(effect.at_start) + sum(effect.temporary);
    memory_.peak = std::max(memory_.peak, during);
    alive_ += sum(effect.at_start) + sum(effect.at_end);
    memory_.peak = std::max(memory_.peak, alive_);
    memory_.change = alive_;
  }
  LayerMemory memory() const { return memory_; }

 private:
  static Bytes sum(const std::vector<sim::MemoryChange>& changes) {
    Bytes all{};
    for (const sim::MemoryChange& change : changes) all += change.amount;
    return all;
  }
  Bytes alive_{};
  LayerMemory memory_;
};

class Templates {
 public:
  Templates(const sim::ModelGraph& model, const sim::ParallelPlan& plan)
      : model_(model), plan_(without_sharding(plan)), device_(one_device(plan)), memory_(model_, plan_) {}

  ActivationMemory make() const {
    const auto of = [&](LayerIndex layer) { return LayerMemories{forward(layer), backward(layer)}; };
    return {of(LayerIndex(0)), of(LayerIndex(1)), of(model_.head()), received()};
  }

 private:
  // Weights and their gradients are counted apart.
  static sim::ParallelPlan without_sharding(sim::ParallelPlan plan) {
    plan.zero_stage = 0;
    return plan;
  }
  static sim::TaskGraph one_device(const sim::ParallelPlan& plan) {
    sim::TaskGraphBuilder builder;
    builder.add_device({.representative = sim::Rank(0), .stage = sim::StageIndex(0), .multiplicity = plan.mesh.data * plan.mesh.tensor});
    return std::move(builder).freeze();
  }
  sim::Task task(LayerIndex layer, Phase phase, const sim::Piece& piece) const {
    const bool communicates = sim::is_communication(piece.operation);
    return {.key = {.stage = sim::StageIndex(0), .chunk = sim::ChunkIndex(0), .microbatch = sim::MicrobatchIndex(0), .layer = layer, .phase = phase,
                    .operation = piece.operation, .group = communicates ? sim::MeshAxis::Tensor : sim::MeshAxis::None},
            .device = sim::DeviceId(0), .payload = piece.payload};
  }
  void follow(Walk& walk, LayerIndex layer, Phase phase, const std::vector<sim::Piece>& pieces) const {
    for (const sim::Piece& piece : pieces) walk.add(memory_.effect(task(layer, phase, piece), device_));
  }
  LayerMemory forward(LayerIndex layer) const {
    Walk walk;
    follow(walk, layer, Phase::Forward, forward_pieces(model_, plan_, layer));
    return walk.memory();
  }
  LayerMemory backward(LayerIndex layer) const {
    Walk walk;
    const bool is_block = layer != LayerIndex(0) && layer != model_.head();
    if (is_block && plan_.recompute == sim::Recompute::Full) follow(walk, layer, Phase::Recompute, recompute_pieces(model_, plan_, layer));
    follow(walk, layer, Phase::Backward, backward_pieces(model_, plan_, layer));
    return walk.memory();
  }
  Bytes received() const {
    const Bytes hidden = sim::bytes_per_element(plan_.workload.precision) * (plan_.shard_shape().tokens() * plan_.model.hidden);
    return plan_.sequence_parallel ? hidden / std::int64_t{plan_.mesh.tensor} : hidden;
  }

  const sim::ModelGraph& model_;
  sim::ParallelPlan plan_;
  sim::TaskGraph device_;
  sim::MemoryModel memory_;
};

// What one action of a chunk does to memory. Peaks are relative to what was alive when it began.
struct ActionMemory {
  Bytes change{};
  Bytes peak{};                  // of all but its last layer, the next gathered unit included
  Bytes last_peak{};             // while its last layer runs; the unit gathered meanwhile belongs to the next action
  LayerIndex first_layer, last_layer;
};

// Which run of the chunk an action is: the first takes what stays for the step (gradients, kept units), the last frees it.
struct Run { bool first = false, last = false; };

class StageWalk {
 public:
  StageWalk(const sim::ParallelPlan& plan, const ActivationMemory& activations, const StageWeights& weights, sim::StageIndex stage)
      : plan_(plan), microbatches_(plan.num_microbatches()), activations_(activations), weights_(weights), stage_(stage),
        gathers_(plan.mesh.data > 1 && sim::sharding_strategy(plan).shards_parameters),
        frees_gradients_(plan.mesh.data > 1 && sim::sharding_strategy(plan).shards_gradients) {}

  Bytes peak(const std::vector<sim::StageAction>& order);   // the most beyond what is resident

 private:
  struct Chunk {
    std::array<ActionMemory, 2> forward;                    // [is first]
    std::array<std::array<ActionMemory, 2>, 2> backward;    // [is first][is last]
    std::int64_t forwards = 0, backwards = 0;               // done
  };
  Chunk chunk(sim::ChunkIndex index) const;
  ActionMemory action(sim::ChunkIndex chunk, ActionKind kind, Run run) const;
  const ActionMemory& next(const std::vector<Chunk>& chunks, const sim::StageAction& action) const;
  const LayerMemory& memory(LayerIndex layer, ActionKind kind) const;
  Bytes passing_unit(LayerIndex layer) const;               // gathered for one visit
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

ActivationMemory activation_memory(const sim::ModelGraph& model, const sim::ParallelPlan& plan) { return Templates(model, plan).make(); }

std::vector<StageWeights> stage_weights(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const std::vector<std::vector<sim::Bucket>>& buckets) {
  std::vector<StageWeights> stages;
  for (const std::vector<sim::Bucket>& stage : buckets) {
    StageWeights weights{.resident = sim::resident_memory(plan, sim::stage_elements(plan, stage)), .by_layer = std::vector<Bytes>(model.layers.size())};
    sim::add_step_data(weights.resident, plan);
    for (const sim::Bucket& bucket : stage)
      for (const sim::BucketSlot& slot : bucket.slots) weights.by_layer[slot.layer.position()] += sim::bytes_per_element(plan.workload.precision) * slot.elements;
    stages.push_back(std::move(weights));
  }
  return stages;
}

MemoryBound memory_bound(const sim::ParallelPlan& plan, const ActivationMemory& activations, const std::vector<StageWeights>& weights,
                         const StageOrders& orders) {
  MemoryBound bound;
  for (std::size_t stage = 0; stage < weights.size(); ++stage) {
    const Bytes working = StageWalk(plan, activations, weights[stage], sim::StageIndex(static_cast<std::int32_t>(stage))).peak(orders[stage]);
    const Bytes peak = total(weights[stage].resident) + working;
    if (peak <= bound.peak) continue;
    bound = {.peak = peak, .resident = weights[stage].resident, .working = working};
  }
  return bound;
}

}  // namespace planner
