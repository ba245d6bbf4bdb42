#include "planner/sayable.h"

#include <algorithm>

namespace planner {

std::optional<sim::Violation> why_not_sayable(const SearchRequest& request, const PlanCandidate& with_word) {
  if (!request.why_not) return std::nullopt;
  SearchRequest small = request;
  small.cluster.devices = with_word.mesh.ranks();
  PlanCandidate plain{.mesh = with_word.mesh, .schedule = with_word.schedule, .sequence_parallel = with_word.sequence_parallel};
  plain.mesh.expert_tensor = 0;
  const std::vector<sim::Violation> usual = request.why_not(make_plan(small, plain));
  for (const sim::Violation& refused : request.why_not(make_plan(small, with_word)))
    if (std::ranges::none_of(usual, [&](const sim::Violation& known) { return known.where == refused.where; })) return refused;
  return std::nullopt;
}

const std::optional<sim::Violation>& SayableSharding::why_not(const PlanCandidate& candidate) {
  const bool is_pipeline = candidate.mesh.pipeline > 1, has_replicas = candidate.mesh.replicas > 1;
  const auto [known, is_new] = known_.try_emplace(
      {is_pipeline, has_replicas, candidate.zero_stage, candidate.accumulation, candidate.reshard, candidate.offload_parameters});
  if (!is_new) return known->second;
  const PlanCandidate usual{.mesh = {.data = has_replicas ? 4 : 2, .pipeline = is_pipeline ? 2 : 1, .replicas = has_replicas ? 2 : 1},
                            .schedule = candidate.schedule};
  PlanCandidate with_words = usual;
  with_words.zero_stage = candidate.zero_stage;
  with_words.accumulation = candidate.accumulation;
  with_words.reshard = candidate.reshard;
  with_words.offload_optimizer = with_words.offload_parameters = candidate.offload_parameters;
  return known->second = why_not_sayable(request_, with_words);
}

}  // namespace planner
