#include <fmt/format.h>

#include <optional>
#include <sstream>

#include "cli/commands.h"
#include "cli/disturbance_options.h"
#include "cli/documents_json.h"
#include "cli/exit_code.h"
#include "cli/outputs.h"
#include "cli/results.h"
#include "cli/simulation_text.h"
#include "cli/training_run.h"
#include "sim/check/checkers.h"
#include "sim/cost/planned_blocks.h"
#include "sim/cost/port_load.h"
#include "sim/engine/searched_plan.h"
#include "sim/engine/simulate.h"
#include "sim/recipe/program.h"
#include "sim/timeline/chakra_trace.h"
#include "sim/timeline/dependencies.h"
#include "sim/timeline/ledger.h"
#include "sim/timeline/trace.h"
#include "sim/units/input_error.h"
#include "sim/units/text_file.h"

namespace cli {
namespace {

void check(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const sim::TaskGraph& graph, const sim::SimulationResult& result) {
  std::vector<std::string> broken = sim::check_graph(model, plan, graph);
  const sim::SimTime period = result.cycle == 1 ? result.step_time : sim::SimTime(0);
  for (std::string& line : sim::check_timeline(graph, result.timeline, period)) broken.push_back(std::move(line));
  std::string joined;
  for (const std::string& line : broken) joined += "\n  " + line;
  if (!broken.empty()) throw std::logic_error("the checkers found:" + joined);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

constexpr std::string_view kSearched = "searched";  // in the place of a file

void take_searched_order(sim::ParallelPlan& plan) {
  if (std::vector<sim::Violation> found = sim::why_not_searched(plan); !found.empty()) throw sim::InputError("--order searched", found);
  const sim::ModelGraph model = sim::make_model_graph(plan);
  if (auto searched = sim::with_searched_order(model, plan, sim::simulate(model, plan))) plan = std::move(searched->plan);
}

void take_order(sim::ParallelPlan& plan, const std::string& file) {
  if (file == kSearched) return take_searched_order(plan);
  std::vector<sim::Violation> found;
  sim::OrderTable order = sim::parse_order(lines_of(sim::load_text_file(file)), found);
  if (!found.empty()) throw sim::InputError(file, found);
  plan.take_order(std::move(order));
  if (found = sim::violations(plan); !found.empty()) throw sim::InputError(file, found);
}

// For viewers of other programs.
void write_traces(const SimulateOptions& options, const sim::ModelGraph& model, const sim::ParallelPlan& plan, const sim::TaskGraph& graph,
                  const sim::Timeline& timeline) {
  if (options.timeline.empty() && options.memory_snapshot.empty() && options.chakra.empty()) return;
  const sim::Dependencies explained = sim::dependencies_of(graph, timeline, sim::stream_order(plan));
  const sim::SimulatedStep step{model, plan, graph, timeline, explained};
  if (!options.timeline.empty()) sim::write_timelines({{"simulated: " + options.plan, timeline, sim::port_loads(step)}}, options.timeline);
  if (!options.chakra.empty()) sim::write_chakra_traces({plan, graph, timeline, explained}, options.chakra);
  if (!options.memory_snapshot.empty()) sim::write_memory_snapshot(sim::planned_blocks(step), options.memory_snapshot);
}

// One line an entry. Its first line tells that it may be written over.
std::string ledger_csv(const sim::TaskGraph& graph, const sim::ParallelPlan& plan) {
  std::string text = "# meshwright.ledger/1\nstage,rank,task,ranks,bytes\n";
  for (const sim::GraphDevice& device : graph.devices())
    for (const sim::LedgerEntry& entry : sim::predicted_ledger(graph, plan, device.representative))
      text += fmt::format("{},{},{},{},{}\n", device.stage.value(), device.representative.value(), sim::to_text(entry.key),
                          entry.group_size, entry.payload.value());
  return text;
}

void write_files(const SimulateOptions& options, sim::ParallelPlan& plan, const sim::TaskGraph& graph,
                 const sim::SimulationResult& result) {
  if (!options.ledger.empty()) sim::save_text_file(ledger_csv(graph, plan), options.ledger);
  if (!options.write_order.empty()) sim::save_text_file(sim::order_csv(plan), options.write_order);
  if (options.write_plan.empty()) return;
  plan.predictions = sim::Predictions{sim::to_seconds(result.undisturbed_step_time), result.peak_memory, sim::plan_hash(plan)};
  sim::save_plan(plan, options.write_plan);
}

std::vector<Output> outputs_of(const SimulateOptions& options, const sim::ParallelPlan& plan) {
  std::vector<Output> outputs = chakra_outputs(options.chakra, plan.mesh);
  outputs.insert(outputs.end(), {{options.timeline, sim::OwnFile::Trace},
                                 {options.memory_snapshot, sim::OwnFile::Snapshot},
                                 {options.write_order, sim::OwnFile::Order},
                                 {options.ledger, sim::OwnFile::Ledger},
                                 {options.write_plan}});
  return outputs;
}

}  // namespace

Simulated simulated(const sim::ParallelPlan& plan, const SimulateOptions& options, sim::Detail detail) {
  const sim::Disturbances disturbances = disturbances_of(options, plan);
  Simulated all{.model = sim::make_model_graph(plan), .graph = {}, .result = {}};
  all.graph =
      sim::lower(all.model, plan, options.every_rank || !options.chakra.empty() ? sim::Fold::None : sim::fold_of(disturbances, plan));
  all.result = sim::simulate(all.model, plan, all.graph, detail, disturbances);
  if (!disturbances.none()) all.result.undisturbed_step_time = sim::simulate(all.model, plan).step_time;
  return all;
}

int run(const SimulateOptions& options, const Console& console) {
  sim::ParallelPlan plan = sim::load_plan(options.plan);
  require_outputs(outputs_of(options, plan), {options.plan, options.order == kSearched ? std::string() : options.order});
  if (!options.order.empty()) take_order(plan, options.order);
  console.note(sim::notes(plan));
  const bool wants_timeline =
      options.text || options.check || !options.timeline.empty() || !options.memory_snapshot.empty() || !options.chakra.empty();
  const auto [model, graph, result] = simulated(plan, options, wants_timeline ? sim::Detail::Timeline : sim::Detail::Summary);
  if (options.check) check(model, plan, graph, result);
  write_traces(options, model, plan, graph, result.timeline);
  write_files(options, plan, graph, result);
  std::string text = simulation_text(plan, result, console);
  if (options.text) text += "\n" + sim::picture_text(result.timeline, sim::Columns{options.columns});
  if (options.check) text += "\nThe checkers agree: graph and timeline keep every rule.\n";
  if (!options.timeline.empty()) text += fmt::format("\nTimeline: {} (opens in ui.perfetto.dev)\n", options.timeline);
  if (!options.chakra.empty()) text += fmt::format("\nChakra traces: {0}.RANK.et, groups of ranks: {0}.groups.json\n", options.chakra);
  if (!options.memory_snapshot.empty())
    text += fmt::format("\nMemory snapshot: {} (opens in pytorch.org/memory_viz)\n", options.memory_snapshot);
  std::optional<sim::Goodput> goodput;
  if (options.training.steps > 0) {
    const sim::Training training = training_of(options.training, model, plan, sim::to_seconds(result.step_time));
    goodput = sim::train(training);
    text += goodput_text(training, *goodput);
  }
  console.result(text, [&, &found = result] { return simulation_document(plan, found, goodput); });
  return kSuccess;
}

}  // namespace cli
