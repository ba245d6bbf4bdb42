#include "gui/core/simulated_plan.h"

#include <fmt/format.h>

#include "gui/core/critical_row.h"

namespace gui {
namespace {

void explain(SimulatedPlan& simulated) {
  const sim::Dependencies step = sim::dependencies_of(simulated.graph, simulated.result.timeline, sim::stream_order(simulated.plan));
  simulated.critical = sim::critical_path(step, simulated.result.timeline);
  simulated.idle = sim::idle_times(step, simulated.graph);
  simulated.flows = flowsOf(simulated.graph, step);
  simulated.load = clusterLoad(simulated);
  simulated.counters = countersOf({simulated.model, simulated.plan, simulated.graph, simulated.result.timeline, step});
}

}  // namespace

SharedPlan simulatePlan(const sim::ParallelPlan& plan, sim::Fold fold, const std::atomic<bool>* cancelled) {
  if (const std::vector<sim::Violation> broken = sim::violations(plan); !broken.empty()) throw sim::InputError("", broken);
  const auto goes_on = [cancelled] { return cancelled == nullptr || !*cancelled; };
  auto simulated = std::make_shared<SimulatedPlan>();
  simulated->plan = plan;
  simulated->model = sim::make_model_graph(plan);
  if (goes_on()) simulated->graph = sim::lower(simulated->model, simulated->plan, fold);
  if (goes_on()) simulated->result = sim::simulate(simulated->model, simulated->plan, simulated->graph, sim::Detail::Timeline);
  if (goes_on()) explain(*simulated);
  if (goes_on()) simulated->core = coreWithPath(simulated->result.timeline, simulated->critical);
  return goes_on() ? simulated : nullptr;
}

std::string summaryOf(const sim::ParallelPlan& plan) {
  const std::string_view recompute = sim::kRecomputeNames[static_cast<std::size_t>(plan.recompute)];
  if (plan.mesh.context > 1 || plan.mesh.expert > 1)
    return fmt::format("data {} \u00d7 context {} \u00d7 tensor {} \u00d7 pipeline {}, experts over {}, {}, {} microbatches of {}, ZeRO {}, recompute {}",
                       plan.mesh.data, plan.mesh.context, plan.mesh.tensor, plan.mesh.pipeline, plan.mesh.expert, plan.schedule,
                       plan.num_microbatches(), plan.microbatch_size, plan.zero_stage, recompute);
  return fmt::format("data {} \u00d7 tensor {} \u00d7 pipeline {}, {}, {} microbatches of {}, ZeRO {}, recompute {}", plan.mesh.data,
                     plan.mesh.tensor, plan.mesh.pipeline, plan.schedule, plan.num_microbatches(), plan.microbatch_size, plan.zero_stage,
                     recompute);
}

}  // namespace gui
