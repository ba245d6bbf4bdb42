#include "cli/traced_run.h"

#include <fmt/format.h>

#include <sstream>

#include "cli/learned_text.h"
#include "cli/report.h"
#include "cli/trace_comparison.h"
#include "sim/engine/simulate.h"
#include "sim/units/input_error.h"
#include "sim/units/unit_text.h"

namespace cli {
namespace {

constexpr const char* kRemedy = "write --trace plan.json=rank0.json.gz,rank1.json.gz, or plan.json=traces/";

sim::RankTrace trace_of_rank(const sim::Timeline& timeline, std::size_t device, const sim::ParallelPlan& plan, bool with_exchanges) {
  sim::RankTrace trace;
  trace.rank = timeline.devices[device].representative;
  trace.plan_hash = sim::plan_hash(plan);
  trace.mesh = plan.mesh;
  sim::MeasuredStep step;
  for (sim::Span span : timeline.spans) {
    if (span.device.position() != device || (!with_exchanges && sim::is_communication(span.key.operation))) continue;
    span.device = sim::DeviceId(0);
    step.duration = std::max(step.duration, span.end);
    step.spans.push_back(span);
  }
  trace.steps.push_back(std::move(step));
  return trace;
}

std::vector<std::string> paths_in(const std::string& text) {
  std::vector<std::string> paths;
  std::istringstream stream(text);
  for (std::string path; std::getline(stream, path, ',');)
    if (!path.empty()) paths.push_back(path);
  return paths;
}

}  // namespace

TracedRun read_traced_run(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw sim::InputError("--trace", {{"", fmt::format("'{}' is no plan with its traces", text), kRemedy}});
  TracedRun traced;
  traced.run.plan = sim::load_plan(text.substr(0, equals));
  traced.run.files = paths_in(text.substr(equals + 1));
  const JoinedTrace joined = join_traces(traced.run.plan, traced.run.files);
  if (joined.timeline.spans.empty())
    throw sim::InputError(text, {{"", joined.why_not.empty() ? "no kernel is a task's" : joined.why_not.front(),
                                  "give the plan that was performed: meshwright compare shows what is missing"}});
  if (joined.is_cut) throw sim::InputError(text, {{"", joined.notes.front(), "record it again, or leave that rank out"}});
  traced.joined = joined.share;
  traced.has_all_ranks = std::ssize(joined.timeline.devices) == traced.run.plan.mesh.ranks();
  for (std::size_t device = 0; device < joined.timeline.devices.size(); ++device)
    traced.run.traces.push_back(trace_of_rank(joined.timeline, device, traced.run.plan, traced.has_all_ranks));
  traced.step.name = text.substr(0, equals);
  traced.step.plan = traced.run.plan;
  traced.step.step = joined.step;
  return traced;
}

LearnedByTraces learn_by_traces(const std::vector<TracedRun>& runs, std::vector<sim::Evidence> others) {
  std::vector<sim::CalibrationRun> all;
  for (const TracedRun& one : runs) all.push_back(one.run);
  const sim::HardwareProfile hardware = sim::calibrate(runs.front().run.plan.cluster.hardware, all);
  for (const TracedRun& one : runs) others.push_back(one.step);
  for (sim::Evidence& one : others) {
    if (one.plan.cluster.hardware.name != hardware.name)
      throw sim::InputError(one.name,
                            {{"", fmt::format("is of {}, and the first trace of {}", one.plan.cluster.hardware.name, hardware.name),
                              "calibrate each GPU model by itself"}});
    one.plan.cluster.hardware = hardware;
  }
  LearnedByTraces found{.learned = sim::learn(others), .corrections = hardware.corrections};
  for (const TracedRun& one : runs)  // with the profile that the plan has
    for (sim::LearnedStep& step : found.learned.steps)
      if (step.name == one.step.name)
        step.before = sim::to_seconds(sim::simulate(sim::make_model_graph(one.run.plan), one.run.plan, sim::Detail::Summary).step_time);
  return found;
}

std::string traced_text(const LearnedByTraces& found, const std::vector<TracedRun>& runs) {
  std::string text = "\n" + corrections_text(found.corrections, "traced");
  for (const TracedRun& one : runs) {
    text += wrapped(fmt::format("{}: tasks have {} of the kernels' time{}", one.step.name, sim::percent(one.joined),
                                one.has_all_ranks ? "" : "; exchanges are left out, as not all ranks are here"));
  }
  return text + wrapped(
                    "A profiled step can be longer than others where the host holds it up: give a step without the profiler, too, as "
                    "--measured.");
}

}  // namespace cli
