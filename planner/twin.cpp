#include "planner/twin.h"

#include "sim/units/at.h"

namespace planner {

std::optional<std::int64_t> twin_of(const Candidates& candidates, std::int64_t index) {
  const PlanCandidate one = sim::at(candidates, index);
  if (one.zero_stage != 1 && one.zero_stage != 2) return std::nullopt;
  PlanCandidate twin = one;
  twin.zero_stage = 3 - one.zero_stage;
  const std::size_t end = candidates.from(static_cast<std::size_t>(index)).shape_end();
  for (auto at = candidates.from(candidates.from(static_cast<std::size_t>(index)).shape_begin()); at.index() < end; ++at)
    if (*at == twin) return static_cast<std::int64_t>(at.index());
  return std::nullopt;
}

}  // namespace planner
