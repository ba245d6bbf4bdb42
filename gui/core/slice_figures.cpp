#include "gui/core/slice_figures.h"

#include <algorithm>

#include "sim/cost/collective_prices.h"
#include "sim/cost/cost_model.h"
#include "sim/cost/kernel_work.h"
#include "sim/cost/placement.h"
#include "sim/cost/task_kernels.h"
#include "sim/units/at.h"

namespace gui {
namespace {

const sim::Task* taskOf(const SimulatedPlan& plan, const sim::Span& span) {
  if (span.device.position() >= plan.graph.devices().size()) return nullptr;
  for (const sim::TaskId id : plan.graph.issue_order(span.device))
    if (plan.graph.task(id).key == span.key && plan.graph.task(id).stream == span.stream) return &plan.graph.task(id);
  return nullptr;
}

bool isOfALayer(const sim::TaskKey& key) {
  const bool is_pass = key.phase == sim::Phase::Forward || key.phase == sim::Phase::Backward || key.phase == sim::Phase::Weight ||
                       key.phase == sim::Phase::Recompute;
  return is_pass && key.layer.exists() && !sim::moves_data(key.operation) && key.operation < sim::Operation::Accumulate;
}

double flopsOf(const SimulatedPlan& plan, const sim::TaskKey& key) {
  double flops = 0;
  for (const sim::KernelCall& call : sim::kernels_of(plan.model, plan.plan, {key.layer, key.phase, key.operation, {}, key.slice}).calls)
    flops += call.share *
             static_cast<double>(sim::kernel_work(call.kernel, call.shape, plan.plan.precision_of(key.layer).compute()).flops.value());
  return flops;
}

// Of a collective among a group.
std::string_view algorithmOf(const SimulatedPlan& plan, const sim::CollectiveShape& shape, const sim::GroupPlacement& group) {
  const sim::BusyRanks busy{sim::Placement(plan.plan).busy_ranks()};
  const sim::Precision precision = plan.plan.workload.precision.compute();
  const sim::KernelPrices kernels(plan.plan.cluster.hardware, precision, busy);
  return sim::CollectivePrices(plan.plan.cluster, kernels, precision, busy).algorithm(shape, group);
}

}  // namespace

SliceFigures figuresOf(const SimulatedPlan& plan, std::uint32_t position) {
  const sim::Span& span = plan.result.timeline.spans[position];
  const sim::Task* const task = taskOf(plan, span);
  SliceFigures figures;
  if (task == nullptr) return figures;
  figures.alone = sim::CostModel(plan.model, plan.plan).cost(*task, plan.graph).duration;
  figures.payload = task->payload;
  figures.is_posted = span.key.operation == sim::Operation::Send;
  if (sim::is_communication(span.key.operation) && span.key.group != sim::MeshAxis::None) {
    const sim::Rank rank = plan.graph.devices()[span.device.position()].representative;
    const sim::GroupPlacement group = sim::Placement(plan.plan).group(rank, span.key.group);
    figures.ranks = group.ranks;
    figures.on_node = group.on_node;
    if (const sim::CollectiveKind kind = sim::kind_of(span.key.operation); kind != sim::CollectiveKind::SendReceive && group.ranks > 1)
      figures.algorithm = algorithmOf(plan, {kind, group.ranks, task->payload}, group);
  }
  if (isOfALayer(span.key)) {
    const double flops = flopsOf(plan, span.key), seconds = sim::to_seconds(span.end - span.start).count(),
                 peak = sim::at(plan.plan.cluster.hardware.peak, plan.plan.precision_of(span.key.layer).compute()).value();
    if (flops > 0) figures.flops = flops;
    if (peak > 0 && seconds > 0) figures.share_of_peak = flops / seconds / peak;
  }
  return figures;
}

}  // namespace gui
