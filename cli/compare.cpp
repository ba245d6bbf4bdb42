#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/comparison_text.h"
#include "cli/documents_json.h"
#include "cli/exit_code.h"
#include "cli/outputs.h"
#include "cli/results.h"
#include "cli/trace_comparison.h"
#include "sim/cluster/whose_speed.h"
#include "sim/cost/port_load.h"
#include "sim/engine/simulate.h"
#include "sim/timeline/chakra_trace.h"
#include "sim/timeline/comparison.h"
#include "sim/timeline/dependencies.h"
#include "sim/timeline/measured_timeline.h"
#include "sim/units/input_error.h"
#include "sim/units/text_file.h"

namespace cli {
namespace {

// Priced by other hardware, on as many devices.
void price_by(sim::ParallelPlan& plan, const std::string& cluster) {
  if (!cluster.empty()) plan.cluster = sim::load_cluster(cluster, sim::DeviceCount{plan.cluster.devices});
}

// Rank by rank, as the measured one is.
struct BothSteps {
  sim::TaskGraph graph;
  sim::Timeline simulated;
  sim::MedianStep measured;
};

BothSteps both_steps(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const std::vector<sim::RankTrace>& traces,
                     sim::WarmUp warm_up) {
  BothSteps both{.graph = sim::lower(model, plan, sim::Fold::None), .simulated = {}, .measured = sim::median_step(plan, traces, warm_up)};
  both.simulated = sim::simulate(model, plan, both.graph, sim::Detail::Timeline).timeline;
  return both;
}

std::string pictures(const BothSteps& both, sim::Columns columns) {
  return "\nSimulated\n" + sim::picture_text(both.simulated, columns) + "Measured (the median step)\n" +
         sim::picture_text(both.measured.timeline, columns) + "F forward, B backward, r recompute, = communication, s step, . idle\n";
}

void write_both(const CompareOptions& options, const sim::ModelGraph& model, const sim::ParallelPlan& plan, const BothSteps& both) {
  const sim::Dependencies step = sim::dependencies_of(both.graph, both.simulated, sim::stream_order(plan));
  sim::write_timelines({{"simulated: " + options.run, both.simulated, sim::port_loads({model, plan, both.graph, both.simulated, step})},
                        {fmt::format("measured, step {}: {}", both.measured.number, options.run), both.measured.timeline}},
                       options.timeline);
}

// The measured step in its plan's graph: what each task waited for is known there.
void write_measured_chakra(const CompareOptions& options, const sim::ParallelPlan& plan, const BothSteps& both) {
  const sim::Timeline& timeline = both.measured.timeline;
  const sim::Dependencies waits = sim::dependencies_of(both.graph, timeline, sim::stream_order(plan));
  sim::write_chakra_traces({plan, both.graph, timeline, waits}, options.chakra);
}

// What is read, so that nothing of it is written over.
std::vector<std::string> files_of(const CompareOptions& options, const sim::ParallelPlan& plan) {
  std::vector<std::string> files = {options.run + "/plan.json", options.cluster};
  for (sim::Rank rank(0); rank.value() < plan.mesh.ranks(); ++rank) files.push_back(options.run + "/" + sim::trace_file_name(rank));
  return files;
}

int run_of_traces(const CompareOptions& options, const Console& console) {
  sim::ParallelPlan plan = sim::load_plan(options.run);
  price_by(plan, options.cluster);
  const TraceComparison found = compare_with_trace(plan, options.traces);
  const std::string text =
      trace_comparison_text(found, console) + "Simulated with the speed of " + sim::to_text(sim::whose_speed(plan.cluster)) + ".\n";
  console.result(text, [&] { return trace_comparison_document(found, plan.cluster); });
  return kSuccess;
}

}  // namespace

Compared compared(const CompareOptions& options) {
  Compared all{.plan = sim::load_plan(options.run + "/plan.json"), .traces = {}, .model = {}, .comparison = {}};
  std::vector<Output> outputs = chakra_outputs(options.chakra, all.plan.mesh);
  outputs.push_back({options.timeline, sim::OwnFile::Trace});
  require_outputs(outputs, files_of(options, all.plan));
  all.traces = sim::read_run_traces(options.run);
  sim::require_traces_of(all.plan, all.traces, options.run);
  price_by(all.plan, options.cluster);
  all.model = sim::make_model_graph(all.plan);
  const sim::TaskGraph graph = sim::lower(all.model, all.plan);
  const sim::SimulationResult simulated = sim::simulate(all.model, all.plan, graph, sim::Detail::Timeline);
  all.comparison = sim::compare(graph, all.plan, simulated.timeline, all.traces, sim::WarmUp{options.warm_up});
  return all;
}

int run(const CompareOptions& options, const Console& console) {
  if (!options.traces.empty()) return run_of_traces(options, console);
  if (options.run.ends_with(".json"))
    throw sim::InputError(options.run,
                          {{"", "is a file, and a run is a folder", "give traces behind a plan: compare plan.json rank0.json.gz"}});
  const auto [plan, traces, model, comparison] = compared(options);
  std::string text = comparison_text(comparison, console) + experts_text(comparison, plan) + "Simulated with the speed of " +
                     sim::to_text(sim::whose_speed(plan.cluster)) + ".\n";
  if (options.text || !options.timeline.empty() || !options.chakra.empty()) {
    const BothSteps both = both_steps(model, plan, traces, sim::WarmUp{options.warm_up});
    if (options.text) text += pictures(both, sim::Columns{options.columns});
    if (!options.timeline.empty()) {
      write_both(options, model, plan, both);
      text += fmt::format("\nBoth timelines: {} (opens in ui.perfetto.dev)\n", options.timeline);
    }
    if (!options.chakra.empty()) {
      write_measured_chakra(options, plan, both);
      text += fmt::format("\nChakra traces of the measured step {1}: {0}.RANK.et, groups of ranks: {0}.groups.json\n", options.chakra,
                          both.measured.number);
    }
  }
  console.result(text, [&, &found = comparison, &cluster = plan.cluster] { return comparison_document(found, cluster); });
  return kSuccess;
}

}  // namespace cli
