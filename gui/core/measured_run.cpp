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

SharedRun heldAgainst(const sim::ParallelPlan& plan, std::shared_ptr<MeasuredRun> run, sim::WarmUp warm_up, const ProgressPart& part) {
  constexpr std::int64_t kParts = 4;  // about as long each
  const SharedPlan folded = simulatePlan(plan);
  part({.done = 1, .all = kParts});
  run->comparison = sim::compare(folded->graph, plan, folded->result.timeline, run->traces, warm_up);
  part({.done = 2, .all = kParts});
  run->simulated = simulatePlan(plan, Ranks::Simulated);
  part({.done = 3, .all = kParts});
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

SharedRun loadRun(const std::string& folder, sim::WarmUp warm_up, Progress* progress) {
  constexpr double kRead = 0.6;  // of the time, by far the most where there are many steps
  const Watched known(progress);
  requireRunFolder(folder);
  auto run = std::make_shared<MeasuredRun>();
  run->folder = folder;
  const sim::ParallelPlan plan = sim::load_plan(folder + "/plan.json");
  run->traces = sim::read_run_traces(folder, ProgressPart{known, 0, kRead});
  sim::require_traces_of(plan, run->traces, folder);
  return heldAgainst(plan, std::move(run), warm_up, {known, kRead, 1});
}

SharedRun repriced(const MeasuredRun& run, const sim::HardwareProfile& calibrated, const ProgressPart& part) {
  auto again = std::make_shared<MeasuredRun>();
  again->folder = run.folder;
  again->traces = run.traces;
  again->calibrated = true;
  sim::ParallelPlan plan = run.simulated->plan;
  plan.cluster.hardware = calibrated;
  return heldAgainst(plan, std::move(again), {}, part);
}

}  // namespace gui
