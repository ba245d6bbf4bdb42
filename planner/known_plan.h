// Where a plan that is known already stands in a space: a search that looks at it first finds nothing that is behind it.
#pragma once

#include <cstdint>
#include <optional>

#include "planner/candidates.h"

namespace planner {

// Nothing: it is no candidate, for a setting that was not searched. Its stage cut, and words that no axis chooses, are not asked.
std::optional<std::int64_t> place_of(const Candidates& candidates, const sim::ParallelPlan& plan);

}  // namespace planner
