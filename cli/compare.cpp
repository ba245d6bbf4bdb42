#include "cli/commands.h"
#include "cli/comparison_text.h"
#include "cli/documents_json.h"
#include "cli/exit_code.h"
#include "sim/engine/simulate.h"
#include "sim/timeline/comparison.h"
#include "sim/timeline/measured_timeline.h"
#include "sim/units/input_error.h"

namespace cli {
namespace {

// Priced by other hardware, on as many devices.
void price_by(sim::ParallelPlan& plan, const std::string& cluster) {
  if (!cluster.empty()) plan.cluster = sim::load_cluster(cluster, sim::DeviceCount{plan.cluster.devices});
}

// Rank by rank, as the measured one is.
std::string pictures(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const sim::Timeline& measured, sim::Columns columns) {
  const sim::Timeline simulated = sim::simulate(model, plan, sim::Detail::Timeline, sim::Fold::None).timeline;
  return "\nSimulated\n" + sim::picture_text(simulated, columns) + "Measured (the median step)\n" + sim::picture_text(measured, columns) +
         "F forward, B backward, r recompute, = communication, s step, . idle\n";
}

}  // namespace

int run(const CompareOptions& options, const Console& console) {
  sim::ParallelPlan plan = sim::load_plan(options.run + "/plan.json");
  const std::vector<sim::RankTrace> traces = sim::read_run_traces(options.run);
  sim::require_traces_of(plan, traces, options.run);
  price_by(plan, options.cluster);
  const sim::ModelGraph model = sim::make_model_graph(plan);
  const sim::TaskGraph graph = sim::lower(model, plan);
  const sim::SimulationResult simulated = sim::simulate(model, plan, graph, sim::Detail::Timeline);
  const sim::WarmUp warm_up{options.warm_up};
  const sim::Comparison comparison = sim::compare(graph, plan, simulated.timeline, traces, warm_up);
  std::string text = comparison_text(comparison, console);
  if (options.text) text += pictures(model, plan, sim::median_step(plan, traces, warm_up).timeline, sim::Columns{options.columns});
  console.result(text, [&] { return comparison_document(comparison); });
  return kSuccess;
}

}  // namespace cli
