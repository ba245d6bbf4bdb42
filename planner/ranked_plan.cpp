#include "planner/ranked_plan.h"

#include "planner/evaluator.h"
#include "planner/why_not_best.h"
#include "sim/cost/memory_interval.h"
#include "sim/cost/prediction_interval.h"
#include "sim/engine/out_of_memory.h"
#include "sim/units/unit_text.h"

namespace planner {
namespace {

sim::ParallelPlan plan_of(const Found& found, const Outcome& outcome) {
  return Evaluator(found.request, found.model).plan(sim::at(found.candidates, outcome.index));
}

RankedPlan with_predictions(const Found& found, const Outcome& outcome) {
  RankedPlan plan;
  plan.plan = plan_of(found, outcome);
  plan.result = found.results.at(outcome.index);
  put_predictions(plan.plan, plan.result);
  plan.measure = found.ranking.measure(found.ranking.of_step(step_time_of(plan.result)));
  plan.ranked_by = found.ranking.measure(outcome.time);
  plan.out_of_memory_chance = sim::out_of_memory_chance(plan.plan, plan.result, memory_limit(found.request));
  return plan;
}

}  // namespace

void compare_to_best(RankedPlan& plan, const RankedPlan& best, Objective objective) {
  plan.reasons = why_behind(objective, {plan.measure, plan.result}, {best.measure, best.result});
  plan.why_not_best = to_sentence(plan.reasons);
  plan.slower_chance = sim::chance_faster({best.plan, sim::Seconds(best.measure)}, {plan.plan, sim::Seconds(plan.measure)});
}

void compare_to_first(std::vector<RankedPlan>& ranked, Objective objective) {
  for (RankedPlan& plan : ranked) {
    if (&plan != &ranked.front()) {
      compare_to_best(plan, ranked.front(), objective);
      continue;
    }
    plan.reasons.clear();
    plan.why_not_best.clear();
    plan.slower_chance = 0.5;
  }
}

void put_predictions(sim::ParallelPlan& plan, const sim::SimulationResult& result) {
  plan.predictions =
      sim::Predictions{.step_time = sim::to_seconds(result.step_time), .peak_memory = result.peak_memory, .hash = sim::plan_hash(plan)};
}

RankedPlan ranked_plan(const Found& found, const Outcome& outcome, const Outcome& best) {
  RankedPlan plan = with_predictions(found, outcome);
  if (outcome != best) compare_to_best(plan, with_predictions(found, best), found.request.objective);
  return plan;
}

void say_risk(const SearchRequest& request, RankedPlan& risky, std::optional<double> best) {
  const auto share = [](double of_one) { return sim::percent(of_one); };
  risky.reasons = {{"risk", {{"chance", share(risky.out_of_memory_chance)}, {"risk", share(request.risk)}}}};
  if (best) risky.reasons.push_back({std::string(words_of(request.objective).less), {{"percent", share(1 - risky.measure / *best)}}});
  risky.why_not_best = to_sentence(risky.reasons);
}

RankedPlan risky_plan(const Found& found, const Outcome& outcome, const std::optional<Outcome>& best) {
  RankedPlan plan = with_predictions(found, outcome);
  say_risk(found.request, plan, best ? std::optional(with_predictions(found, *best).measure) : std::nullopt);
  return plan;
}

}  // namespace planner
