#include "planner/proof.h"

#include <fmt/format.h>

#include "planner/evaluator.h"
#include "sim/units/unit_text.h"

namespace planner {

bool proves_front(const SearchRequest& request) { return request.front || request.gap == 0; }

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
  if (!proves_front(request))
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
