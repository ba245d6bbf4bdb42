#include "gui/core/measured_run.h"

#include <filesystem>
#include <utility>

#include "gui/core/critical_row.h"
#include "sim/timeline/measured_timeline.h"

namespace gui {
namespace {

void requireRunFolder(const std::string& folder) {
  if (!std::filesystem::is_directory(folder))
    throw sim::InputError(folder, {{"", "is no folder", "open the folder that meshwright run wrote (-o)"}});
  if (!std::filesystem::exists(folder + "/plan.json"))
    throw sim::InputError(folder, {{"", "holds no plan.json, so it is no run folder", "open the folder that meshwright run wrote (-o)"}});
}

SharedRun heldAgainst(const sim::ParallelPlan& plan, std::shared_ptr<MeasuredRun> run, sim::WarmUp warm_up) {
  const SharedPlan folded = simulatePlan(plan);
  run->comparison = sim::compare(folded->graph, plan, folded->result.timeline, run->traces, warm_up);
  run->simulated = simulatePlan(plan, Ranks::Simulated);
  sim::MedianStep median = sim::median_step(plan, run->traces, warm_up);
  run->step = median.number;
  run->measured = std::move(median.timeline);
  const sim::Dependencies step = sim::dependencies_of(run->simulated->graph, run->measured, sim::stream_order(plan));
  run->critical = sim::critical_path(step, run->measured);
  run->idle = sim::idle_times(step, run->simulated->graph);
  run->core = coreWithPath(run->measured, run->critical);
  return run;
}

}  // namespace

SharedRun loadRun(const std::string& folder, sim::WarmUp warm_up) {
  requireRunFolder(folder);
  auto run = std::make_shared<MeasuredRun>();
  run->folder = folder;
  const sim::ParallelPlan plan = sim::load_plan(folder + "/plan.json");
  run->traces = sim::read_run_traces(folder);
  sim::require_traces_of(plan, run->traces, folder);
  return heldAgainst(plan, std::move(run), warm_up);
}

SharedRun repriced(const MeasuredRun& run, const sim::HardwareProfile& calibrated) {
  auto again = std::make_shared<MeasuredRun>();
  again->folder = run.folder;
  again->traces = run.traces;
  again->calibrated = true;
  sim::ParallelPlan plan = run.simulated->plan;
  plan.cluster.hardware = calibrated;
  return heldAgainst(plan, std::move(again), {});
}

}  // namespace gui
