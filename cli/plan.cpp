#include <fmt/format.h>
#include <tbb/global_control.h>

#include <optional>
#include <utility>

#include "cli/commands.h"
#include "cli/documents_json.h"
#include "cli/elastic.h"
#include "cli/exit_code.h"
#include "cli/followed_search.h"
#include "cli/interrupt.h"
#include "cli/outputs.h"
#include "cli/plan_request.h"
#include "cli/plan_screen.h"
#include "cli/plan_text.h"
#include "cli/results.h"
#include "planner/fewer.h"
#include "sim/model/config_notes.h"
#include "sim/units/at.h"
#include "sim/units/unit_text.h"

namespace cli {
std::vector<sim::Violation> notes_of(const PlanOptions& options, const planner::SearchRequest& request) {
  std::vector<sim::Violation> found = sim::config_notes(options.model, request.model.mtp_layers);
  sim::ParallelPlan asked;
  asked.model = request.model, asked.workload = request.workload;
  for (sim::Violation& note : sim::notes(asked)) found.push_back(std::move(note));
  const sim::Bytes usable = sim::usable_memory(request.cluster);
  if (request.memory_limit && *request.memory_limit > usable)
    found.push_back({"--memory-limit",
                     fmt::format("is {}, and a device has {} for tensors: plans may not fit in it", sim::to_text(*request.memory_limit),
                                 sim::to_text(usable)),
                     "leave it out to plan for these devices"});
  return found;
}

int run(const PlanOptions& options, const Console& console) {
  if (!options.elastic.empty()) return run_elastic(options, console);
  require_outputs({{options.output}}, {options.model, options.cluster, options.software});
  const planner::SearchRequest request = search_request(options);
  std::optional<tbb::global_control> limit;
  if (options.threads > 0) limit.emplace(tbb::global_control::max_allowed_parallelism, sim::count_of(options.threads));
  const FollowedSearch search = followed_search(planner::search_as_asked, request, "plan", budget_of(options.budget));
  const planner::SearchResult& result = search.result;
  if (interrupted() && result.ranked.empty()) {
    console.say("interrupted: nothing was found yet, and nothing was written");
    return kInterrupted;
  }
  const bool found = !result.ranked.empty();
  const std::vector<sim::Violation> notes = notes_of(options, request);
  console.note(notes);
  if (found && !options.output.empty()) sim::save_plan(result.ranked.front().plan, options.output);
  std::string last =
      search.ended ? "No plan was found in that time; give it more with --budget." : "No plan is feasible; each family above says why.";
  if (found) last = options.output.empty() ? "" : fmt::format("Plan 1 is in {}", options.output);
  const std::string text = options.all ? search_text(request, result, console) : plan_screen(options, request, result, console);
  console.result(text + (last.empty() ? "" : "\n" + last), [&] { return search_document(options, request, result, notes); });
  if (interrupted()) console.say(options.output.empty() ? "interrupted" : "interrupted: the best plan so far was written");
  return interrupted() ? kInterrupted : found ? kSuccess : search.ended ? kLimitReached : kNoFeasiblePlan;
}

}  // namespace cli
