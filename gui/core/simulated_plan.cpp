#include "gui/core/simulated_plan.h"

#include <utility>

#include <fmt/format.h>

#include "gui/core/critical_row.h"
#include "sim/cost/placement.h"
#include "sim/units/at.h"
#include "sim/units/counted.h"

namespace gui {
namespace {

void explain(SimulatedPlan& simulated) {
  const sim::Dependencies step = sim::dependencies_of(simulated.graph, simulated.result.timeline, sim::stream_order(simulated.plan));
  simulated.critical = sim::critical_path(step, simulated.result.timeline);
  simulated.idle = sim::idle_times(step, simulated.graph);
  simulated.load = clusterLoad(simulated);
  simulated.picture.devices = Unfolding(simulated.result.timeline);
  simulated.picture.flows = flowsOf(simulated.graph, step);
  simulated.picture.counters = countersOf({simulated.model, simulated.plan, simulated.graph, simulated.result.timeline, step});
  simulated.picture.core = coreWithPath(simulated.result.timeline, simulated.critical);
}

void unfold(SimulatedPlan& simulated) {
  const sim::DeviceMesh& mesh = simulated.plan.mesh;
  if (std::cmp_equal(simulated.graph.devices().size(), mesh.ranks())) return;
  simulated.every_rank = everyRank(simulated.picture, Unfolding::everyRank(simulated.result.timeline, simulated.graph.fold(), mesh), mesh);
}

}  // namespace

bool foldsExactly(const sim::ParallelPlan& plan) { return sim::Placement(plan).is_even(); }

SharedPlan simulatePlan(const sim::ParallelPlan& plan, Ranks ranks, Progress* progress) {
  if (const std::vector<sim::Violation> broken = sim::violations(plan); !broken.empty()) throw sim::InputError("", broken);
  const Watched known(progress);
  const auto goes_on = [&known](double done) {
    known->part = done;
    return !known->cancelled;
  };
  const bool folded = ranks == Ranks::Folded || (ranks == Ranks::OneByOne && foldsExactly(plan));
  auto simulated = std::make_shared<SimulatedPlan>();
  simulated->plan = plan;
  simulated->model = sim::make_model_graph(plan);
  if (goes_on(0))
    simulated->graph = sim::lower(simulated->model, simulated->plan, folded ? sim::fold_of({}, simulated->plan) : sim::Fold::None);
  if (goes_on(0.3)) simulated->result = sim::simulate(simulated->model, simulated->plan, simulated->graph, sim::Detail::Timeline);
  if (goes_on(0.8)) explain(*simulated);
  if (goes_on(0.95) && ranks == Ranks::OneByOne) unfold(*simulated);
  return goes_on(1) ? simulated : nullptr;
}

sim::ParallelPlan withPredictions(const SimulatedPlan& simulated) {
  sim::ParallelPlan plan = simulated.plan;
  plan.predictions = {.step_time = sim::to_seconds(simulated.result.step_time),
                      .peak_memory = simulated.result.peak_memory,
                      .hash = sim::plan_hash(simulated.plan)};
  return plan;
}

std::string summaryOf(const sim::ParallelPlan& plan) {
  const std::string_view recompute = sim::at(sim::kRecomputeNames, plan.recompute);
  const std::string microbatches = sim::counted(plan.num_microbatches(), "microbatch");
  if (plan.mesh.context > 1 || plan.mesh.expert > 1)
    return fmt::format(
        "data {} \u00d7 context {} \u00d7 tensor {} \u00d7 pipeline {}, experts over {}, {}, {} of {}, ZeRO {}, recompute {}",
        plan.mesh.data, plan.mesh.context, plan.mesh.tensor, plan.mesh.pipeline, plan.mesh.expert, plan.schedule, microbatches,
        plan.microbatch_size, plan.zero_stage, recompute);
  return fmt::format("data {} \u00d7 tensor {} \u00d7 pipeline {}, {}, {} of {}, ZeRO {}, recompute {}", plan.mesh.data, plan.mesh.tensor,
                     plan.mesh.pipeline, plan.schedule, microbatches, plan.microbatch_size, plan.zero_stage, recompute);
}

}  // namespace gui
