#include "gui/core/simulated_plan.h"

#include <fmt/format.h>

#include "gui/core/critical_row.h"

namespace gui {

SharedPlan simulatePlan(const sim::ParallelPlan& plan, sim::Fold fold) {
  if (const std::vector<sim::Violation> broken = sim::violations(plan); !broken.empty()) throw sim::InputError("", broken);
  auto simulated = std::make_shared<SimulatedPlan>();
  simulated->plan = plan;
  simulated->model = sim::make_model_graph(plan);
  simulated->graph = sim::lower(simulated->model, simulated->plan, fold);
  simulated->result = sim::simulate(simulated->model, simulated->plan, simulated->graph, sim::Detail::Timeline);
  const sim::Dependencies step = sim::dependencies_of(simulated->graph, simulated->result.timeline, sim::stream_order(plan));
  simulated->critical = sim::critical_path(step, simulated->result.timeline);
  simulated->idle = sim::idle_times(step, simulated->graph);
  simulated->flows = flowsOf(simulated->graph, step);
  simulated->counters = countersOf({simulated->model, simulated->plan, simulated->graph, simulated->result.timeline});
  simulated->core = coreWithPath(simulated->result.timeline, simulated->critical);
  return simulated;
}

std::string summaryOf(const sim::ParallelPlan& plan) {
  return fmt::format("data {} \u00d7 tensor {} \u00d7 pipeline {}, {}, {} microbatches of {}, ZeRO {}, recompute {}", plan.mesh.data,
                     plan.mesh.tensor, plan.mesh.pipeline, plan.schedule, plan.num_microbatches(), plan.microbatch_size, plan.zero_stage,
                     sim::kRecomputeNames[static_cast<std::size_t>(plan.recompute)]);
}

}  // namespace gui
