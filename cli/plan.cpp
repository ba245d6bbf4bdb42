#include <fmt/format.h>
#include <tbb/global_control.h>

#include <optional>

#include "cli/commands.h"
#include "cli/documents_json.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/outputs.h"
#include "cli/plan_request.h"
#include "cli/plan_text.h"
#include "cli/progress.h"
#include "sim/model/config_notes.h"

namespace cli {
namespace {

std::vector<sim::Violation> notes_of(const PlanOptions& options, const planner::SearchRequest& request) {
  std::vector<sim::Violation> found = sim::config_notes(options.model);
  sim::ParallelPlan asked;
  asked.model = request.model, asked.workload = request.workload;
  for (sim::Violation& note : sim::notes(asked)) found.push_back(std::move(note));
  return found;
}

}  // namespace

int run(const PlanOptions& options, const Console& console) {
  require_outputs({{options.output}}, {options.model, options.cluster, options.software});
  const planner::SearchRequest request = search_request(options);
  std::optional<tbb::global_control> limit;
  if (options.threads > 0) limit.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(options.threads));
  Progress progress("plan: candidate");
  const planner::SearchResult result = planner::search(
      request, [&](planner::SearchProgress now) { progress.update({.done = now.done, .all = now.all, .details = {}}); }, &interrupted());
  if (interrupted()) {
    console.say("interrupted: nothing was written");
    return kInterrupted;
  }
  const bool found = !result.ranked.empty();
  const std::vector<sim::Violation> notes = notes_of(options, request);
  console.note(notes);
  if (found) sim::save_plan(result.ranked.front().plan, options.output);
  const std::string last =
      found ? fmt::format("Plan 1 is in {}", options.output) : "No plan is feasible; each family above says why, and what would help.";
  console.result(search_text(request, result, console) + last, [&] { return search_document(options, result, notes); });
  return found ? kSuccess : kNoFeasiblePlan;
}

}  // namespace cli
