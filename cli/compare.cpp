#include "cli/commands.h"
#include "cli/comparison_text.h"
#include "cli/documents_json.h"
#include "cli/exit_code.h"
#include "sim/engine/simulate.h"
#include "sim/timeline/comparison.h"
#include "sim/units/input_error.h"

namespace cli {
namespace {

void require_same_plan(const sim::ParallelPlan& plan, const std::vector<sim::RankTrace>& traces, const std::string& folder) {
  const std::string hash = sim::plan_hash(plan);
  for (const sim::RankTrace& trace : traces)
    if (trace.plan_hash != hash)
      throw sim::InputError(folder, {{"trace of rank " + std::to_string(trace.rank.value()),
                                      "was recorded under plan " + trace.plan_hash + ", plan.json of the folder is " + hash, "compare a folder as run wrote it"}});
}

}  // namespace

int run(const CompareOptions& options, const Console& console) {
  const sim::ParallelPlan plan = sim::load_plan(options.run + "/plan.json");
  const std::vector<sim::RankTrace> traces = sim::read_run_traces(options.run);
  require_same_plan(plan, traces, options.run);
  const sim::ModelGraph model = sim::make_model_graph(plan);
  const sim::TaskGraph graph = sim::lower(model, plan);
  const sim::SimulationResult simulated = sim::simulate(model, plan, graph, sim::Detail::Timeline);
  const sim::Comparison comparison = sim::compare(graph, plan, simulated.timeline, traces, sim::WarmUp{options.warm_up});
  console.result(comparison_text(comparison, console), [&] { return comparison_document(comparison); });
  return kSuccess;
}

}  // namespace cli
