#include "sim/cost/lower_bound.h"

#include <algorithm>

#include "sim/cost/memory_model.h"
#include "sim/cost/task_prices.h"
#include "sim/task_graph/layer_tasks.h"

namespace sim {
namespace {

struct LayerTimes {
  SimTime forward{}, backward{}, weight{};  // backward: with what is computed again; weight: where the schedule splits it off
};

class StageTimes {
 public:
  StageTimes(const ModelGraph& model, const ParallelPlan& plan)
      : model_(model), plan_(plan), prices_(model, plan), times_(model.firsts.size()) {
    for (const LayerIndex layer : model.firsts) times_[model.kind(layer)] = times(layer);
  }

  LayerTimes of(StageIndex stage, ChunkIndex chunk) const {
    LayerTimes sum;
    const LayerRange range = plan_.layers(stage, chunk);
    for (LayerIndex layer = range.begin; layer < range.end; ++layer) {
      const LayerTimes& one = times_[model_.kind(layer)];
      sum.forward += one.forward;
      sum.backward += one.backward;
      sum.weight += one.weight;
    }
    return sum;
  }

  SimTime first_recompute() const { return recompute_; }  // at most, of one block

  SimTime weights(StageIndex stage) const {
    SimTime sum{};
    for (ChunkIndex chunk{0}; chunk.value() < plan_.chunks; ++chunk) sum += of(stage, chunk).weight;
    return sum * plan_.num_microbatches();
  }

  SimTime all(StageIndex stage) const {
    SimTime sum{};
    for (ChunkIndex chunk{0}; chunk.value() < plan_.chunks; ++chunk)
      sum += of(stage, chunk).forward + of(stage, chunk).backward + of(stage, chunk).weight;
    return sum * plan_.num_microbatches();
  }

 private:
  SimTime time(const std::vector<Piece>& pieces, LayerIndex layer, Phase phase);
  LayerTimes times(LayerIndex layer);

  const ModelGraph& model_;
  const ParallelPlan& plan_;
  TaskPrices prices_;
  ByLayerKind<LayerTimes> times_;
  SimTime recompute_{};  // of the longest block
};

SimTime StageTimes::time(const std::vector<Piece>& pieces, LayerIndex layer, Phase phase) {
  return chain_time<SimTime>(pieces, [&](const Piece& piece) {
    if (!is_communication(piece.operation)) return prices_.layer_task({layer, phase, piece.operation});
    const TaskKey key{.layer = layer, .phase = phase, .operation = piece.operation, .group = piece.group};
    return prices_.collective(key, piece.payload, prices_.placement().group(Rank(0), piece.group)).duration;
  });
}

LayerTimes StageTimes::times(LayerIndex layer) {
  SimTime again{};
  const bool is_everywhere = plan_.recompute != Recompute::Full || plan_.recompute_scope == RecomputeScope{};
  if (is_everywhere) again = time(recompute_pieces(model_, plan_, layer), layer, Phase::Recompute);
  recompute_ = std::max(recompute_, again);
  return {time(forward_pieces(model_, plan_, layer), layer, Phase::Forward),
          again + time(backward_pieces(model_, plan_, layer), layer, Phase::Backward),
          plan_.splits_backward() ? time(weight_pieces(model_, layer), layer, Phase::Weight) : SimTime{}};
}

}  // namespace

SimTime compute_lower_bound(const ModelGraph& model, const ParallelPlan& plan, StageIndex stage) {
  return StageTimes(model, plan).all(stage);
}

SimTime step_lower_bound(const ModelGraph& model, const ParallelPlan& plan) {
  const StageTimes times(model, plan);
  SimTime arrive{}, drain{}, bound{};
  for (StageIndex stage{0}; stage.value() < plan.mesh.pipeline; ++stage) {
    const SimTime all = times.all(stage), weights = times.weights(stage);  // weight gradients may come after the last input gradient
    bound = std::max({bound, arrive + all, arrive + all - weights + drain});
    const LayerTimes chunk = times.of(stage, ChunkIndex(0));
    arrive += chunk.forward;
    drain += chunk.backward - times.first_recompute();  // that may run before the gradient comes
  }
  return bound;
}

Bytes memory_lower_bound(const ModelGraph& model, const ParallelPlan& plan) {
  const MemoryModel memory(model, plan);
  return std::max(memory.lower_bound(StageIndex(0)), memory.lower_bound(StageIndex(plan.mesh.pipeline - 1)));
}

}  // namespace sim
