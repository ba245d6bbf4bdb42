#include "sim/cost/host_share.h"

#include <algorithm>

#include "sim/cost/modelled_kernels.h"
#include "sim/cost/task_prices.h"
#include "sim/task_graph/layer_tasks.h"

namespace sim {
namespace {

constexpr double kHostsApart = 1.9;

struct BlockTime {
  double host = 0, device = 0;  // seconds
  bool drains = false;
};

void add(const Piece& piece, Phase phase, LayerIndex layer, TaskPrices& prices, BlockTime& time) {
  if (is_communication(piece.operation)) {
    const TaskKey key{.layer = layer, .phase = phase, .operation = piece.operation, .group = piece.group, .sequence = piece.sequence};
    const TaskPrices::Collective price = prices.collective(key, piece.payload, prices.placement().group(Rank(0), piece.group));
    time.device += to_seconds(price.duration).count();
    time.drains |= price.drains;
    return;
  }
  const TaskPrices::Computation computation = prices.layer_task({.layer = layer, .phase = phase, .operation = piece.operation});
  time.device += to_seconds(computation.duration).count();
  time.host += to_seconds(computation.issue).count();
  time.drains |= computation.drains;
}

}  // namespace

// The last block: those before it may be without experts.
double host_share(const ParallelPlan& plan) {
  if (!plan.model.experts || !is_modelled(plan.cluster.hardware)) return 0;
  const ModelGraph model = make_model_graph(plan);
  const LayerIndex last(static_cast<std::int32_t>(plan.model.layers));
  TaskPrices prices(model, plan);
  BlockTime time;
  for (const Phase phase : {Phase::Forward, Phase::Recompute, Phase::Backward})
    for (const Piece& piece : pieces_of(model, plan, last, phase)) add(piece, phase, last, prices, time);
  return time.drains && time.device > 0 ? std::min(1.0, time.host / time.device) : 0;
}

double slow_host(double host_share) { return std::max(0.0, kHostsApart * host_share - 1); }

}  // namespace sim
