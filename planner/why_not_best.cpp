#include "planner/why_not_best.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/units/unit_text.h"

namespace planner {
namespace {

using sim::Seconds;
using sim::to_text;

// Mean over the ranks: computing + bubble + exposed = step.
Seconds computing(const sim::SimulationResult& result) {
  double ranks = 0;
  Seconds busy{};
  for (const sim::DeviceResult& device : result.devices) {
    ranks += device.multiplicity;
    busy += sim::to_seconds(device.busy) * device.multiplicity;
  }
  return busy / ranks;
}

Reason step_reason(const sim::SimulationResult& plan, const sim::SimulationResult& best) {
  const double ratio = sim::to_seconds(plan.step_time) / sim::to_seconds(best.step_time);
  if (plan.step_time == best.step_time) return {"as_fast", {}};
  const bool is_slower = plan.step_time > best.step_time;
  return {is_slower ? "slower" : "faster", {{"percent", sim::percent(is_slower ? ratio - 1 : 1 - ratio)}}};
}

}  // namespace

std::vector<Reason> why_not_best(const sim::SimulationResult& plan, const sim::SimulationResult& best) {
  struct Term {
    double seconds;
    Reason reason;
  };
  const double step = sim::to_seconds(plan.step_time).count(), best_step = sim::to_seconds(best.step_time).count();
  const auto share = [&](const char* code, double own, double other) {
    return Term{own * step - other * best_step, {code, {{"this", sim::percent(own)}, {"best", sim::percent(other)}}}};
  };
  std::vector<Term> terms{
      share("bubble", plan.bubble, best.bubble),
      share("exposed_communication", plan.exposed_communication, best.exposed_communication),
      {(computing(plan) - computing(best)).count(), {"compute", {{"this", to_text(computing(plan))}, {"best", to_text(computing(best))}}}}};
  std::stable_sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.seconds > b.seconds; });
  const bool slower = plan.step_time > best.step_time;
  std::vector<Reason> reasons{step_reason(plan, best)};
  const auto tell = [&](const Reason& reason) {  // "8.44 MiB against 8.44 MiB" is none
    if (reason.arguments[0].value != reason.arguments[1].value) reasons.push_back(reason);
  };
  for (const Term& term : terms)
    if (slower && term.seconds > 0.05 * (step - best_step)) tell(term.reason);
  tell({"memory_use", {{"this", to_text(plan.peak_memory)}, {"best", to_text(best.peak_memory)}}});
  return reasons;
}

std::vector<Reason> why_behind(Objective objective, const Measured& plan, const Measured& best) {
  const std::string_view more = words_of(objective).more;
  if (more.empty()) return why_not_best(plan.result, best.result);
  std::vector<Reason> reasons{{std::string(more), {{"percent", sim::percent(plan.measure / best.measure - 1)}}},
                              step_reason(plan.result, best.result)};
  const std::string own = to_text(computing(plan.result)), other = to_text(computing(best.result));
  if (objective == Objective::Energy && own != other) reasons.push_back({"compute", {{"this", own}, {"best", other}}});
  return reasons;
}

}  // namespace planner
