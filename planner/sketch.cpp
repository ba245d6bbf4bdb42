#include "planner/sketch.h"

#include <cmath>

#include "sim/cost/resident_memory.h"

namespace planner {
namespace {

using sim::Bytes;
using sim::SimTime;
using sim::StageIndex;

LayerPrice sum(const StageLayerPrices& prices, const sim::ModelGraph& model, sim::LayerRange layers) {
  LayerPrice all;
  for (sim::LayerIndex layer = layers.begin; layer < layers.end; ++layer) {
    const LayerPrice& price = price_of(prices, model, layer);
    all.forward += price.forward;
    all.recompute += price.recompute;
    all.backward += price.backward;
    all.weight += price.weight;
  }
  return all;
}

Bytes weights(const sim::ModelGraph& model, const sim::ParallelPlan& plan, StageIndex stage) {
  return total(sim::resident_memory(plan, sim::unpadded_stage_elements(model, plan, stage)));
}

Bytes step_data(const sim::ParallelPlan& plan, StageIndex stage) {
  sim::MemoryBreakdown memory{};
  sim::add_step_data(memory, plan, stage);
  return total(memory);
}

}  // namespace

SimTime least_time(SimTime work, const Pipelined& pipeline) {
  const auto all = static_cast<double>(work.count()), m = static_cast<double>(pipeline.microbatches);
  constexpr double kRounding = 1 - 1e-9;  // of doubles, downwards
  const double even = all * m / static_cast<double>(pipeline.stages);
  const double waiting = pipeline.waits ? all / (1 - std::pow(1 - 1 / m, static_cast<double>(pipeline.stages))) : 0;
  return SimTime(static_cast<std::int64_t>(std::max(even, waiting) * kRounding));
}

SimTime busiest_time(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const std::vector<StageLayerPrices>& layers) {
  SimTime busiest{};
  for (StageIndex stage{0}; stage.value() < plan.mesh.pipeline; ++stage) {
    SimTime all{};
    for (sim::ChunkIndex chunk{0}; chunk.value() < plan.chunks; ++chunk) {
      const LayerPrice one = sum(layers[stage.position()], model, plan.layers(stage, chunk));
      all += (one.forward + one.recompute + one.backward + one.weight) * plan.num_pieces();
    }
    busiest = std::max(busiest, all);
  }
  return busiest;
}

SimTime sketch_time(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const std::vector<StageLayerPrices>& layers,
                    const std::vector<StageTransfers>& transfers) {
  if (plan.crosses_steps()) return busiest_time(model, plan, layers);
  const std::int64_t pieces = plan.num_pieces();
  SimTime arrive{}, drain{}, bound{};
  for (StageIndex stage{0}; stage.value() < plan.mesh.pipeline; ++stage) {
    const StageLayerPrices& prices = layers[stage.position()];
    const TransferPrices& down = transfers[stage.position()].down;
    SimTime all{}, weights{};
    LayerPrice first;
    for (sim::ChunkIndex chunk{0}; chunk.value() < plan.chunks; ++chunk) {
      const LayerPrice one = sum(prices, model, plan.layers(stage, chunk));
      if (chunk.value() == 0) first = one;
      all += (one.forward + one.recompute + one.backward + one.weight) * pieces;
      weights += one.weight * pieces;
    }
    if (stage.value() > 0) arrive += down.forward_receive;
    bound = std::max({bound, arrive + all, arrive + all - weights + (stage.value() > 0 ? drain + down.backward_post : drain)});
    const SimTime ahead = price_of(prices, model, sim::LayerIndex(plan.layers(stage, sim::ChunkIndex(0)).end.value() - 1)).recompute;
    arrive += first.forward + down.forward_post;
    drain += down.backward_receive + first.recompute + first.backward - ahead + (stage.value() > 0 ? down.backward_post : SimTime{});
  }
  return bound;
}

EndStages end_weights(const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
  return {.first = weights(model, plan, StageIndex(0)), .last = weights(model, plan, StageIndex(plan.mesh.pipeline - 1))};
}

EndStages end_step_data(const sim::ParallelPlan& plan) {
  return {.first = step_data(plan, StageIndex(0)), .last = step_data(plan, StageIndex(plan.mesh.pipeline - 1))};
}

}  // namespace planner
