#include <fmt/format.h>
#include <tbb/global_control.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "cli/commands.h"
#include "cli/documents_json.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/outputs.h"
#include "cli/plan_request.h"
#include "cli/plan_text.h"
#include "cli/progress.h"
#include "sim/model/config_notes.h"
#include "sim/units/unit_text.h"

namespace cli {
namespace {

std::vector<sim::Violation> notes_of(const PlanOptions& options, const planner::SearchRequest& request) {
  std::vector<sim::Violation> found = sim::config_notes(options.model);
  sim::ParallelPlan asked;
  asked.model = request.model, asked.workload = request.workload;
  for (sim::Violation& note : sim::notes(asked)) found.push_back(std::move(note));
  return found;
}

constexpr auto kGlance = std::chrono::milliseconds(10);

// Sets the flag when the time is up, or Ctrl-C comes.
std::jthread stopping_watch(const PlanOptions& options, std::atomic<bool>& stop) {
  using Clock = std::chrono::steady_clock;
  const auto budget = options.budget.empty() ? std::optional<sim::Seconds>() : sim::parse_duration(options.budget);
  return std::jthread([&stop, budget, begin = Clock::now()](const std::stop_token& done) {
    while (!done.stop_requested() && !stop) {
      if (interrupted() || (budget && Clock::now() - begin >= std::chrono::duration<double>(budget->count()))) stop = true;
      std::this_thread::sleep_for(kGlance);
    }
  });
}

std::string found_so_far(const planner::SearchProgress& now) {
  if (now.best.count() == 0) return "";
  const std::string best = "best " + sim::to_text(sim::to_seconds(now.best));
  if (now.least.count() == 0 || now.least >= now.best) return best;
  return best + fmt::format(", no plan is more than {} faster", sim::percent(1 - sim::to_seconds(now.least) / sim::to_seconds(now.best)));
}

}  // namespace

int run(const PlanOptions& options, const Console& console) {
  require_outputs({{options.output}}, {options.model, options.cluster, options.software});
  const planner::SearchRequest request = search_request(options);
  std::optional<tbb::global_control> limit;
  if (options.threads > 0) limit.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(options.threads));
  Progress progress("plan: candidate");
  std::atomic<bool> stop{false};
  if (interrupted()) stop = true;
  const std::jthread watch = stopping_watch(options, stop);
  const planner::SearchResult result = planner::search(
      request,
      [&](planner::SearchProgress now) {
        const std::string found = found_so_far(now);
        progress.update({.done = now.done, .all = now.all, .details = found});
      },
      &stop);
  if (interrupted() && result.ranked.empty()) {
    console.say("interrupted: nothing was found yet, and nothing was written");
    return kInterrupted;
  }
  const bool found = !result.ranked.empty();
  const std::vector<sim::Violation> notes = notes_of(options, request);
  console.note(notes);
  if (found) sim::save_plan(result.ranked.front().plan, options.output);
  const std::string last = found  ? fmt::format("Plan 1 is in {}", options.output)
                           : stop ? "No plan was found in that time; give it more with --budget."
                                  : "No plan is feasible; each family above says why, and what would help.";
  console.result(search_text(request, result, console) + last, [&] { return search_document(options, result, notes); });
  if (interrupted()) console.say("interrupted: the best plan so far was written");
  return interrupted() ? kInterrupted : found ? kSuccess : kNoFeasiblePlan;
}

}  // namespace cli
