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
  plan.plan.predictions = sim::Predictions{
      .step_time = sim::to_seconds(plan.result.step_time), .peak_memory = outcome.memory, .hash = sim::plan_hash(plan.plan)};
  plan.out_of_memory_chance = sim::out_of_memory_chance(plan.plan, plan.result, memory_limit(found.request));
  return plan;
}

}  // namespace

RankedPlan ranked_plan(const Found& found, const Outcome& outcome, const Outcome& best) {
  RankedPlan plan = with_predictions(found, outcome);
  const sim::SimulationResult& of_best = found.results.at(best.index);
  if (outcome != best) {
    plan.reasons = why_not_best(plan.result, of_best);
    plan.slower_chance =
        sim::chance_faster({plan_of(found, best), sim::to_seconds(of_best.step_time)}, {plan.plan, sim::to_seconds(plan.result.step_time)});
  }
  plan.why_not_best = to_sentence(plan.reasons);
  return plan;
}

RankedPlan risky_plan(const Found& found, const Outcome& outcome, const std::optional<Outcome>& best) {
  RankedPlan plan = with_predictions(found, outcome);
  const auto share = [](double of_one) { return sim::percent(of_one); };
  plan.reasons = {{"risk", {{"chance", share(plan.out_of_memory_chance)}, {"risk", share(found.request.risk)}}}};
  if (best) {
    const double fastest = sim::to_seconds(found.results.at(best->index).step_time).count(),
                 own = sim::to_seconds(plan.result.step_time).count();
    plan.reasons.push_back({"faster", {{"percent", share(1 - own / fastest)}}});
  }
  plan.why_not_best = to_sentence(plan.reasons);
  return plan;
}

}  // namespace planner
