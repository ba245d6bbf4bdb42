#include "sim/cost/host_share.h"

#include <algorithm>

#include "sim/clock/behavior.h"
#include "sim/cost/modelled_kernels.h"
#include "sim/cost/task_prices.h"
#include "sim/task_graph/layer_tasks.h"

namespace sim {
namespace {

constexpr double kFitted = 0.1;  // the widest interval of a program that rows were fitted to

struct BlockTime {
  double host = 0, device = 0;  // seconds
};

// By which factor hosts are slower than the one that was read; 1: no doubt.
double slower_hosts(const ParallelPlan& plan) {
  const SoftwareStack& stack = plan.cluster.software;
  if (plan.model.experts) return plan.model.experts->dispatch == ExpertDispatch::Dropless ? common_behavior().hosts_apart : 1;
  return is_unread(stack) && stack.host_per_module > Seconds(0) ? common_behavior().unread_hosts_apart : 1;
}

double faster_hosts(const ParallelPlan& plan) {
  return plan.model.adapters && plan.cluster.software.host_per_adapter > Seconds(0) ? common_behavior().adapter_hosts_apart : 1;
}

void add(const Piece& piece, Phase phase, LayerIndex layer, TaskPrices& prices, BlockTime& time) {
  if (is_communication(piece.operation)) {
    const TaskKey key{.layer = layer, .phase = phase, .operation = piece.operation, .group = piece.group, .sequence = piece.sequence};
    time.device += to_seconds(prices.collective(key, piece.payload, prices.placement().group(Rank(0), piece.group)).duration).count();
    return;
  }
  const TaskPrices::Computation computation = prices.layer_task({.layer = layer, .phase = phase, .operation = piece.operation});
  time.device += to_seconds(computation.duration).count();
  time.host += to_seconds(computation.issue).count();
}

}  // namespace

// The last block: those before it may be without experts.
double host_share(const ParallelPlan& plan) {
  if (plan.model.convolution || !is_modelled(plan.cluster.hardware)) return 0;
  const ModelGraph model = make_model_graph(plan);
  const LayerIndex last(static_cast<std::int32_t>(plan.model.layers));
  TaskPrices prices(model, plan);
  BlockTime time;
  for (const Phase phase : {Phase::Forward, Phase::Recompute, Phase::Backward})
    for (const Piece& piece : pieces_of(model, plan, last, phase)) add(piece, phase, last, prices, time);
  return time.device > 0 ? time.host / time.device : 0;
}

// Programs whose host was read state more of it than modules: adapters and units of ZeRO-3, or ranks of tensor groups. DeepSpeed's units alone were read.
bool is_unread(const SoftwareStack& stack) {
  const bool has_both = stack.host_per_unit > Seconds(0) && stack.host_per_adapter > Seconds(0);
  const bool is_read = has_both || stack.host_per_tensor_rank > Seconds(0);
  return !stack.frameworks.empty() && stack.interval > kFitted && !is_read;
}

HostDoubt host_doubt(const ParallelPlan& plan) {
  const double apart = slower_hosts(plan), back = faster_hosts(plan);
  if (apart == 1 && back == 1) return {};
  const double share = host_share(plan);
  return {.slower = std::max(0.0, apart * std::min(1.0, share) - 1), .faster = 1 - std::max(1 / std::max(1.0, share), 1 / back)};
}

}  // namespace sim
