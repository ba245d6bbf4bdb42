#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/disturbance_options.h"
#include "cli/documents_json.h"
#include "cli/exit_code.h"
#include "cli/simulation_text.h"
#include "sim/check/checkers.h"
#include "sim/engine/simulate.h"
#include "sim/timeline/trace.h"

namespace cli {
namespace {

void check(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const sim::TaskGraph& graph, const sim::Timeline& timeline) {
  std::vector<std::string> broken = sim::check_graph(model, plan, graph);
  for (std::string& line : sim::check_timeline(graph, timeline)) broken.push_back(std::move(line));
  std::string joined;
  for (const std::string& line : broken) joined += "\n  " + line;
  if (!broken.empty()) throw std::logic_error("the checkers found:" + joined);
}

}  // namespace

int run(const SimulateOptions& options, const Console& console) {
  const sim::ParallelPlan plan = sim::load_plan(options.plan);
  const sim::ModelGraph model = sim::make_model_graph(plan);
  const bool wants_timeline = options.text || options.check || !options.timeline.empty();
  const sim::Disturbances disturbances = disturbances_of(options, plan);
  const sim::TaskGraph graph = sim::lower(model, plan, options.every_rank ? sim::Fold::None : sim::fold_of(disturbances, plan));
  const sim::SimulationResult result =
      sim::simulate(model, plan, graph, wants_timeline ? sim::Detail::Timeline : sim::Detail::Summary, disturbances);
  if (options.check) check(model, plan, graph, result.timeline);
  if (!options.timeline.empty()) sim::write_chrome_trace(result.timeline, "simulated: " + options.plan, options.timeline);
  std::string text = simulation_text(plan, result, console);
  if (options.text) text += "\n" + sim::picture_text(result.timeline, sim::Columns{options.columns});
  if (options.check) text += "\nThe checkers agree: graph and timeline keep every rule.\n";
  if (!options.timeline.empty()) text += fmt::format("\nTimeline: {} (opens in ui.perfetto.dev)\n", options.timeline);
  console.result(text, [&] { return simulation_document(plan, result); });
  return kSuccess;
}

}  // namespace cli
