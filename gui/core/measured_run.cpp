#include "gui/core/measured_run.h"

#include <algorithm>
#include <filesystem>

namespace gui {
namespace {

const sim::MeasuredStep* stepOf(const sim::RankTrace& trace, StepNumber number) {
  const auto found =
      std::find_if(trace.steps.begin(), trace.steps.end(), [&](const sim::MeasuredStep& step) { return step.step == number.value; });
  return found == trace.steps.end() ? nullptr : &*found;
}

StepNumber medianStep(const sim::RankTrace& trace, sim::WarmUp warm_up) {
  std::vector<const sim::MeasuredStep*> steps;
  for (std::size_t at = static_cast<std::size_t>(warm_up.steps); at < trace.steps.size(); ++at) steps.push_back(&trace.steps[at]);
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end(), [](const auto* a, const auto* b) { return a->duration < b->duration; });
  return {(*middle)->step};
}

void requireSamePlan(const sim::ParallelPlan& plan, const std::vector<sim::RankTrace>& traces, const std::string& folder) {
  if (traces.size() != static_cast<std::size_t>(plan.mesh.ranks()))
    throw sim::InputError(
        folder, {{"", std::to_string(traces.size()) + " traces are there, the plan has " + std::to_string(plan.mesh.ranks()) + " ranks",
                  "wait until the run has ended, or copy the folder as a whole"}});
  const std::string hash = sim::plan_hash(plan);
  for (const sim::RankTrace& trace : traces)
    if (trace.plan_hash != hash)
      throw sim::InputError(folder, {{sim::trace_file_name(trace.rank), "was recorded under another plan than the plan.json beside it",
                                      "open a folder as meshwright run wrote it"}});
}

void requireRunFolder(const std::string& folder) {
  if (!std::filesystem::is_directory(folder))
    throw sim::InputError(folder, {{"", "is no folder", "open the folder that meshwright run wrote (-o)"}});
  if (!std::filesystem::exists(folder + "/plan.json"))
    throw sim::InputError(folder, {{"", "holds no plan.json, so it is no run folder", "open the folder that meshwright run wrote (-o)"}});
}

}  // namespace

sim::Timeline timelineOfStep(const sim::ParallelPlan& plan, const std::vector<sim::RankTrace>& traces, StepNumber step) {
  sim::Timeline timeline;
  sim::SimTime origin = sim::SimTime::max();
  for (const sim::RankTrace& trace : traces)
    if (const sim::MeasuredStep* measured = stepOf(trace, step)) origin = std::min(origin, measured->start + trace.clock_offset);
  for (const sim::RankTrace& trace : traces) {
    const sim::MeasuredStep* measured = stepOf(trace, step);
    if (measured == nullptr) continue;
    const sim::DeviceId device(static_cast<std::int32_t>(timeline.devices.size()));
    timeline.devices.push_back({trace.rank, plan.mesh.coordinate(trace.rank).stage, 1});
    const sim::SimTime shift = measured->start + trace.clock_offset - origin;
    for (const sim::Span& span : measured->spans)
      timeline.spans.push_back({device, span.stream, span.key, span.start + shift, span.end + shift});
  }
  return timeline;
}

SharedRun loadRun(const std::string& folder, sim::WarmUp warm_up) {
  requireRunFolder(folder);
  auto run = std::make_shared<MeasuredRun>();
  run->folder = folder;
  const sim::ParallelPlan plan = sim::load_plan(folder + "/plan.json");
  run->traces = sim::read_run_traces(folder);
  requireSamePlan(plan, run->traces, folder);
  const SharedPlan folded = simulatePlan(plan);
  run->comparison = sim::compare(folded->graph, plan, folded->result.timeline, run->traces, warm_up);
  run->simulated = simulatePlan(plan, sim::Fold::None);
  const StepNumber step = medianStep(run->traces.front(), warm_up);
  run->step = step.value;
  run->measured = timelineOfStep(plan, run->traces, step);
  return run;
}

}  // namespace gui
