#include "planner/longest_step.h"

#include "planner/plan_prices.h"

namespace planner {
namespace {

double most(sim::SimTime time) { return picoseconds(time); }
double most(const Exchange& exchange) { return picoseconds(std::max({exchange.time, exchange.load.port, exchange.load.uplink})); }
double most(const PacedTime& tasks) {
  return picoseconds(tasks.time) + picoseconds(tasks.issue) + std::max(0.0, picoseconds(tasks.issued)) +
         std::max(0.0, picoseconds(tasks.waited));
}

template <class... Times>
double most_of(const Times&... times) {
  return (most(times) + ...);
}

}  // namespace

double most(const sim::ModelGraph& model, const StageLayerPrices& layers) {
  double all = 0;
  for (sim::LayerIndex layer{0}; layer <= model.head(); ++layer) {
    const LayerPrice& price = layers[model.kind(layer)];
    all += most_of(price.forward, price.recompute, price.backward, price.weight, price.forward_in_turn.work, price.forward_in_turn.exchange,
                   price.backward_in_turn.work, price.backward_in_turn.exchange);
  }
  return all;
}

double most(const std::vector<StageTransfers>& transfers) {
  double all = 0;
  for (const StageTransfers& stage : transfers)
    for (const TransferPrices& one : {stage.down, stage.up})
      all += most_of(one.forward_post, one.forward_receive, one.backward_post, one.backward_receive);
  return all;
}

double most(const std::vector<StageStepPrices>& steps) {
  double all = 0;
  for (const StageStepPrices& stage : steps) {
    all += most_of(stage.replicated_sum.value_or(sim::SimTime{}), stage.norm_part, stage.world_sum);
    for (const BucketPrice& one : stage.buckets)
      all += most_of(one.forward_gather, one.backward_gather, one.near_forward_gather, one.near_backward_gather, one.reduce,
                     one.replica_sum, one.update, one.accumulate, one.to_host, one.to_device, one.device_update, one.bring, one.bring_sums,
                     one.weights_gather, one.embedding_sum);
  }
  return all;
}

}  // namespace planner
