#include "planner/sayable.h"

#include <algorithm>

namespace planner {

std::optional<sim::Violation> why_not_sayable(const SearchRequest& request, const PlanCandidate& with_word) {
  if (!request.why_not) return std::nullopt;
  SearchRequest small = request;
  small.cluster.devices = with_word.mesh.ranks();
  PlanCandidate plain{.mesh = with_word.mesh, .sequence_parallel = with_word.sequence_parallel};
  plain.mesh.expert_tensor = 0;
  const std::vector<sim::Violation> usual = request.why_not(make_plan(small, plain));
  for (const sim::Violation& refused : request.why_not(make_plan(small, with_word)))
    if (std::ranges::none_of(usual, [&](const sim::Violation& known) { return known.where == refused.where; })) return refused;
  return std::nullopt;
}

}  // namespace planner
