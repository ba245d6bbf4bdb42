#include "planner/proof.h"

#include <fmt/format.h>

#include <algorithm>

#include "planner/evaluator.h"
#include "sim/units/unit_text.h"

namespace planner {

std::optional<double> proven_gap(const Known& known, sim::SimTime best) {
  sim::SimTime least = best;
  for (auto at = known.candidates.begin(); at != known.candidates.end(); ++at) {
    const Judgement& judgement = known.judgements[at.index()];
    const bool is_looked_at = judgement.verdict != Verdict::Open || judgement.is_sketch || judgement.time.count() > 0;
    if (!is_looked_at)
      least = std::min(least, known.shape_least.empty() ? sim::SimTime{} : known.shape_least[at.shape()]);
    else if (judgement.verdict == Verdict::Beaten || (judgement.verdict == Verdict::Open && judgement.memory <= known.safe))
      least = std::min(least, judgement.time);
  }
  if (least.count() == 0) return std::nullopt;
  return sim::to_seconds(best) / sim::to_seconds(least) - 1;
}

std::string proof_of(const Proven& proven) {
  const auto& [request, result, ended, last] = proven;
  const std::string counts = fmt::format(
      "{} candidates: {} against a rule, {} above {} by a lower bound on memory, {} more likely than {} to run out of it, {} beaten by "
      "their "
      "bounds, {} simulated",
      result.candidates, result.infeasible, result.pruned_memory, sim::to_text(memory_limit(request)), result.pruned_risk,
      sim::percent(request.risk), result.pruned_bound, result.simulated);
  if (result.ranked.empty())
    return ended ? fmt::format("ended before a plan was found; {}", counts) : fmt::format("no plan is feasible; {}", counts);
  const std::size_t top = result.ranked.size();
  if (ended && !result.gap) return fmt::format("ended with {} candidates left, nothing is proven; {}", result.open, counts);
  if (ended)
    return fmt::format("ended with {} candidates left: at best a plan is {} better than plan 1; {}", result.open,
                       sim::percent(1 - 1 / (1 + *result.gap)), counts);
  const std::string within = sim::percent(request.gap);
  if (!request.front && request.gap == 0)
    return fmt::format("best and top {} hold over {}. Beaten: a bound at least that of plan {} ({})", top, counts, top, last);
  if (!request.front)
    return fmt::format("best and top {} hold within {} over {}. Beaten: a bound less than that below plan {} ({})", top, within, counts,
                       top, last);
  if (request.gap > 0)
    return fmt::format(
        "best, top {} and Pareto front hold within {} over {}. Beaten: a bound less than that below plan {} ({}), and a simulated plan "
        "is by at most that behind and larger than the bounds",
        top, within, counts, top, last);
  return fmt::format(
      "best, top {} and Pareto front hold over {}. Beaten: a bound above that of plan {} ({}), and a simulated plan is at most as "
      "far behind and as large as the bounds",
      top, counts, top, last);
}

}  // namespace planner
