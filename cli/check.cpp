// One screen about a plan, in whatever words it comes: whether it fits, what it costs, what holds it back, and the lines to change.
#include <algorithm>
#include <optional>
#include <utility>

#include "cli/check_text.h"
#include "cli/commands.h"
#include "cli/documents_json.h"
#include "cli/exit_code.h"
#include "cli/followed_search.h"
#include "cli/interrupt.h"
#include "cli/plan_request.h"
#include "cli/results.h"
#include "planner/fewer.h"
#include "planner/ranking.h"
#include "planner/unsearched.h"
#include "planner/what_if.h"
#include "sim/validation/evidence.h"

namespace cli {
namespace {

planner::SearchRequest request_of(const Subject& subject, const CheckOptions& options) {
  planner::SearchRequest request = planner::request_like(subject.plan);
  take_limits(options.memory_limit, options.risk, request);
  ObjectiveOptions objective = options;
  objective.checkpoint_interval = subject.plan.training.checkpoint_interval;
  take_objective(objective, request);
  request.fixed = options.fixed;
  request.known = subject.plan;
  request.top = 1;
  request.front = false;
  if (const sim::Program* program = subject.program) {
    request.why_not = [program, told = sim::why_not_for(*program, subject.plan)](const sim::ParallelPlan& plan) {
      std::vector<sim::Violation> refused = sim::why_not_for(*program, plan);
      std::erase_if(refused, [&](const sim::Violation& one) {
        return std::ranges::any_of(told,
                                   [&](const sim::Violation& known) { return known.where == one.where && known.problem == one.problem; });
      });
      return refused;
    };
    request.habits = [own = request.habits, program](sim::ParallelPlan& plan) {
      own(plan);
      sim::take_habits(*program, plan);
    };
  }
  return request;
}

std::vector<CheckResult::Price> prices_of(const planner::SearchRequest& request, const Search& search) {
  std::vector<CheckResult::Price> prices;
  for (const planner::WhatIf& one : planner::what_ifs(request)) {
    if (interrupted()) break;
    const planner::SearchResult found = search(one.request);
    CheckResult::Price& price = prices.emplace_back(CheckResult::Price{one.words, {}, {}});
    if (found.ranked.empty()) continue;
    price.per_token = planner::time_per_token(found.ranked.front());
    price.plan = found.ranked.front().plan;
  }
  return prices;
}

// Of the same program on the same device: what is learned of one holds for the other.
void take_learned(const sim::Learned& learned, Subject& subject) {
  sim::Cluster& cluster = subject.plan.cluster;
  const std::string name = cluster.software.name.empty() ? "learned" : cluster.software.name;  // as learn() calls what has none
  if (name == learned.cluster.software.name && cluster.hardware.name == learned.cluster.hardware.name)
    cluster.software = learned.cluster.software;
}

// What the search looks at first, and is not behind however early it ends: the best of the changes that it may choose itself.
sim::ParallelPlan best_known(const CheckResult& check) {
  const planner::Improvement* best = nullptr;
  for (const auto* changes : {&check.improvements.one, &check.improvements.two})
    for (const planner::Improvement& one : *changes)
      if (std::ranges::all_of(one.changed, planner::is_searched) && (best == nullptr || one.measure < best->measure)) best = &one;
  return best == nullptr ? check.now.subject.plan : best->plan;
}

// What is better than the plan, taken apart as it is: what it gains by which cause.
std::optional<Checked> better_one(const CheckResult& check) {
  if (check.search.ranked.empty()) return std::nullopt;
  const planner::RankedPlan& first = check.search.ranked.front();
  if (check.fits && first.measure >= check.measure) return std::nullopt;
  Subject subject = check.now.subject;
  subject.plan = first.plan;
  return checked(std::move(subject), check.now.limit);
}

}  // namespace

CheckResult check_result(const CheckOptions& options, const Search& search) {
  Subject subject = load_subject(options.subject);
  CheckResult check;
  if (!options.log.empty()) {
    check.learned = sim::learn({sim::evidence_of_log(options.log, subject.plan)});
    take_learned(*check.learned, subject);
  }
  check.request = request_of(subject, options);
  const planner::SearchRequest& request = check.request;
  const sim::Bytes limit = request.memory_limit.value_or(sim::usable_memory(subject.plan.cluster));
  check.now = checked(std::move(subject), limit);
  const planner::Ranking ranking(request);
  check.measure = ranking.measure(ranking.of_step(planner::step_time_of(check.now.result)));
  check.to_the_tensor = options.why == "memory";
  check.all_changes = options.why == "changes";
  check.fits = check.now.result.host_fits && check.now.result.peak_memory <= limit;
  if (!options.against.empty()) {
    ImportOptions before = options.subject;
    before.recipe = options.against;
    Subject earlier = load_subject(before);
    if (check.learned) take_learned(*check.learned, earlier);
    check.before = checked(std::move(earlier), limit);
  }
  check.improvements = planner::improvements(request, {check.now.subject.plan, check.now.result});
  planner::SearchRequest from_changes = request;
  from_changes.known = best_known(check);
  check.search = search(from_changes);
  check.better = better_one(check);
  if (options.prices && !check.search.ranked.empty()) check.prices = prices_of(request, search);
  return check;
}

int run(const CheckOptions& options, const Console& console) {
  const CheckResult check = check_result(options, [budget = budget_of(options.budget)](const planner::SearchRequest& request) {
    return followed_search(planner::search_as_asked, request, "check", budget).result;
  });
  console.note(sim::notes(check.now.subject.plan));
  const Report report = check_report(check);
  console.result(options.markdown ? markdown_text(report) : screen_text(report, console), [&] { return check_document(check); });
  if (interrupted()) return kInterrupted;
  return check.fits ? kSuccess : kNoFeasiblePlan;
}

}  // namespace cli
