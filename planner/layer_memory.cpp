#include "planner/layer_memory.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "planner/recomputation.h"
#include "sim/cost/gradient_lifetime.h"
#include "sim/cost/memory_model.h"
#include "sim/cost/resident_memory.h"
#include "sim/cost/unit_memory.h"
#include "sim/cost/whole_backwards.h"
#include "sim/sharding/encoded.h"
#include "sim/task_graph/layer_tasks.h"
#include "sim/task_graph/task_graph_builder.h"

namespace planner {
namespace {

using sim::Bytes;
using sim::LayerIndex;
using sim::Phase;

// Follows one chain of tasks.
class Walk {
 public:
  void add(const sim::MemoryEffect& effect) {
    const Bytes during = alive_ + sum(effect.at_start) + sum(effect.temporary);
    memory_.peak = std::max(memory_.peak, during);
    alive_ += sum(effect.at_start) + without_gradients(effect.at_end);  // what follows sees it: a unit may be freed in the same instant
    memory_.change = alive_;
  }
  LayerMemory memory() const { return memory_; }
  Bytes end_phase() { return std::exchange(memory_.peak, alive_); }  // the peak so far: what follows has its own

 private:
  static Bytes sum(const std::vector<sim::MemoryChange>& changes) {
    Bytes all{};
    for (const sim::MemoryChange& change : changes) all += change.amount;
    return all;
  }
  // Of weights: counted apart, beyond the operator that is fullest.
  static Bytes without_gradients(const std::vector<sim::MemoryChange>& changes) {
    Bytes all = sum(changes);
    for (const sim::MemoryChange& change : changes)
      if (change.category == sim::MemoryCategory::Gradients) all -= change.amount;
    return all;
  }
  Bytes alive_{};
  LayerMemory memory_;
};

class Templates {
 public:
  // `whole`: whether a backward that the plan splits runs as one all the same.
  Templates(const sim::ModelGraph& model, const sim::ParallelPlan& plan, bool whole)
      : model_(model), plan_(plan), device_(one_device(plan)), memory_(model_, plan_, sim::WholeBackwards(whole ? kFirst : kNone)) {}

  sim::ByLayerKind<LayerMemories> make() const {
    const auto of = [&](LayerIndex layer) {
      LayerMemories memories;
      memories.forward = forward(layer);
      memories.backward = backward(layer, memories.recompute_peak);
      if (plan_.splits_backward()) memories.weight = weight(layer);
      memories.received = received(layer);
      return memories;
    };
    sim::ByLayerKind<LayerMemories> layers(model_.firsts.size());
    for (const LayerIndex layer : model_.firsts) layers[model_.kind(layer)] = of(layer);
    return layers;
  }

 private:
  // Of no order: what a place in one keeps longer (NextBackwards, delay_head_wgrad) is none of a bound.
  static constexpr sim::MicrobatchIndex kAny{std::numeric_limits<std::int32_t>::max()};
  inline static const std::set<sim::WholeBackwards::Place> kNone, kFirst{{sim::StageIndex(0), sim::ChunkIndex(0), kAny}};
  static sim::TaskGraph one_device(const sim::ParallelPlan& plan) {
    sim::TaskGraphBuilder builder;
    builder.add_device(
        {.representative = sim::Rank(0), .stage = sim::StageIndex(0), .multiplicity = plan.mesh.copies() * plan.mesh.tensor});
    return std::move(builder).freeze();
  }
  sim::Task task(LayerIndex layer, Phase phase, const sim::Piece& piece) const {
    return {.key = {.stage = sim::StageIndex(0),
                    .chunk = sim::ChunkIndex(0),
                    .microbatch = kAny,
                    .layer = layer,
                    .phase = phase,
                    .operation = piece.operation,
                    .group = piece.group,
                    .sequence = piece.sequence},
            .device = sim::DeviceId(0),
            .payload = piece.payload};
  }
  void follow(Walk& walk, LayerIndex layer, Phase phase, const std::vector<sim::Piece>& pieces) const {
    for (const sim::Piece& piece : pieces) walk.add(memory_.effect(task(layer, phase, piece), device_));
  }
  bool is_block(LayerIndex layer) const { return layer != LayerIndex(0) && layer != model_.head(); }
  // To the host and back; with nothing between the copy and what it waits for, or what waits for it.
  void move_input(Walk& walk, LayerIndex layer, Phase phase) const {
    const sim::Operation operation = phase == Phase::Forward ? sim::Operation::CopyToHost : sim::Operation::CopyToDevice;
    follow(walk, layer, phase, {{.operation = operation, .payload = received(layer)}});
  }
  // Segment by segment, what its modules have saved has come when it is read: other segments' may be on their way.
  void follow_with_inputs(Walk& walk, LayerIndex layer, Phase phase, const std::vector<sim::Piece>& pieces,
                          std::set<std::int32_t>& moved) const {
    const bool sends = !plan_.offload_modules.none() && is_block(layer);
    for (const sim::Piece& piece : pieces) {
      if (sends && moved.insert(piece.parts.segment).second)
        follow(walk, layer, Phase::Backward, {{.operation = sim::Operation::CopyToDevice, .sequence = piece.parts.segment}});
      follow(walk, layer, phase, {piece});
    }
  }
  LayerMemory forward(LayerIndex layer) const {
    Walk walk;
    follow(walk, layer, Phase::Forward, forward_pieces(model_, plan_, layer));
    if (plan_.offload_activations && is_block(layer)) move_input(walk, layer, Phase::Forward);
    return walk.memory();
  }
  LayerMemory backward(LayerIndex layer, Bytes& recompute_peak) const {
    Walk walk;
    if (plan_.offload_activations && is_block(layer)) move_input(walk, layer, Phase::Backward);
    const bool is_spared = plan_.recompute == sim::Recompute::Full && !plan_.recomputes(layer, kAny);
    std::set<std::int32_t> moved;
    if (!is_spared) follow_with_inputs(walk, layer, Phase::Recompute, recompute_pieces(model_, plan_, layer), moved);
    recompute_peak = walk.end_phase();
    follow_with_inputs(walk, layer, Phase::Backward, backward_pieces(model_, plan_, layer), moved);
    return walk.memory();
  }
  LayerMemory weight(LayerIndex layer) const {
    Walk walk;
    follow(walk, layer, Phase::Weight, weight_pieces(model_, layer));
    return walk.memory();
  }
  Bytes received(LayerIndex layer) const { return plan_.message_into(layer); }

  const sim::ModelGraph& model_;
  const sim::ParallelPlan& plan_;  // of ZeRO stage 0, or by units: weights and their gradients are counted apart
  sim::TaskGraph device_;
  sim::MemoryModel memory_;
};

// Of both kinds of backwards, whatever the order of the plan: which of them an action is depends on its place. Likewise of blocks.
ActivationMemory made(const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
  if (plan.recompute_scope.together > 1) {  // by itself each; whose inputs are not kept, memory_bound knows
    sim::ParallelPlan alone = plan;
    alone.recompute_scope.together = 1;
    return made(model, alone);
  }
  const auto whole = [&](const sim::ParallelPlan& of) {
    return sim::may_be_whole(of) || (of.expert_overlap && of.delay_wgrad) ? Templates(model, of, true).make()
                                                                          : sim::ByLayerKind<LayerMemories>();
  };
  ActivationMemory memory;
  memory.messages_held = sim::habits_of(plan.cluster).held_messages > 0;
  if (!spares_some(plan)) {
    memory.layers = Templates(model, plan, false).make(), memory.whole = whole(plan);
    return memory;
  }
  sim::ParallelPlan of_all = plan, of_none = plan;
  of_all.recompute_scope = {};
  of_none.recompute_scope = {.every = std::numeric_limits<std::int32_t>::max()};
  memory.layers = Templates(model, of_all, false).make(), memory.whole = whole(of_all);
  memory.spared = Templates(model, of_none, false).make(), memory.spared_whole = whole(of_none);
  return memory;
}

}  // namespace

bool weights_in_turn(const sim::ParallelPlan& plan) { return plan.expert_overlap && plan.delay_wgrad && !plan.order_splits_backward(); }

ActivationMemory activation_memory(const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
  if (weights_in_turn(plan)) {
    sim::ParallelPlan at_once = plan;
    at_once.delay_wgrad = false;
    return activation_memory(model, at_once);
  }
  if ((plan.zero_stage == 0 && !sim::drops_gradients(plan)) || sim::follows_units(plan))
    return made(model, plan);  // units: by operators, which hang on the stage
  sim::ParallelPlan unsharded = plan;
  unsharded.zero_stage = 0;
  unsharded.offload_parameters = false;
  unsharded.optimizer_in_backward = false;
  unsharded.cluster.software.keeps_buckets = false;
  return made(model, unsharded);
}

std::vector<StageWeights> stage_weights(const sim::ModelGraph& model, const sim::ParallelPlan& plan,
                                        const std::vector<std::vector<sim::Bucket>>& buckets) {
  std::vector<StageWeights> stages;
  for (const std::vector<sim::Bucket>& stage : buckets) {
    StageWeights weights{.resident = sim::resident_memory(plan, stage),
                         .by_layer = std::vector<Bytes>(model.layers.size()),
                         .gradients_begin = std::vector<Bytes>(model.layers.size()),
                         .gradients_end = std::vector<Bytes>(model.layers.size()),
                         .tied_gradients = std::vector<Bytes>(model.layers.size()),
                         .of_all_shards = std::vector<Bytes>(model.layers.size()),
                         .first_bucket = std::vector<Bytes>(model.layers.size())};
    for (const sim::Bucket& bucket : stage) {
      if (bucket.expert && bucket.shards == 1 && !plan.offload_parameters) continue;  // resident, whatever the ZeRO stage
      const std::size_t unit = sim::unit_of(plan, bucket.ready_after).begin.position();
      const bool is_gathered = !bucket.persistent;  // else its weights are resident, and its gradients come as any
      if (!bucket.expert && is_gathered) weights.of_all_shards[unit] += sim::gathered_bytes(plan, bucket);
      Bytes& first = weights.first_bucket[unit];
      const bool is_first = first == Bytes{} && !bucket.tied;
      std::int64_t elements = 0;  // without padding
      for (const sim::BucketSlot& slot : bucket.slots) {
        const Bytes bytes = is_gathered ? sim::gathered_bytes(plan, slot) : Bytes{};
        elements += slot.elements;
        weights.by_layer[slot.layer.position()] += bytes;
        if (is_first) first += bytes;
      }
      // Codes come first, and what they are decoded to when they have come.
      if (is_first && is_gathered && bucket.shards > 1 && plan.workload.precision.weight_codec()) first = sim::gather_payload(bucket, plan);
      if (bucket.frozen) continue;
      const Bytes gradients = plan.bytes(sim::Numbers::Gradients, bucket.ready_after) * elements;
      if (bucket.tied) {
        weights.tied_gradients[bucket.ready_after.position()] += gradients;
      } else {
        if (sim::drops_gradients(plan)) {
          for (const sim::BucketSlot& slot : bucket.slots) {
            if (bucket.shards == 1 && plan.mesh.has_copies()) continue;
            const Bytes passing = sim::passing_gradient(plan, slot.layer) * slot.elements;
            weights.gradients_begin[slot.layer.position()] += passing;
            if (plan.optimizer_in_backward) weights.gradients_end[bucket.ready_after.position()] += passing;
          }
          continue;
        }
        const auto first_back = std::ranges::max_element(bucket.slots, {}, &sim::BucketSlot::layer);
        weights.gradients_begin[first_back->layer.position()] += gradients;
        weights.gradients_end[bucket.ready_after.position()] += gradients;
      }
    }
    stages.push_back(std::move(weights));
  }
  return stages;
}

}  // namespace planner
