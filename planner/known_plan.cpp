#include "planner/known_plan.h"

namespace planner {

std::optional<std::int64_t> place_of(const Candidates& candidates, const sim::ParallelPlan& plan) {
  const PlanCandidate known = candidate_of(plan);
  for (auto at = candidates.begin(); at != candidates.end(); at = candidates.from(at.shape_end())) {
    if (!same_shape(*at, known)) continue;
    for (const std::size_t end = at.shape_end(); at.index() < end; ++at)
      if (*at == known) return static_cast<std::int64_t>(at.index());
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace planner
