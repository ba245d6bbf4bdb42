#include "planner/host_space.h"

#include "planner/vary.h"

namespace planner {

HostSpace::HostSpace(const SearchRequest& request, const FixedAxes& fixed, ShardingSpace& sharding)
    : request_(request), fixed_(fixed), sharding_(sharding) {}

std::vector<bool> HostSpace::optimizers() const {
  if (fixed_.has("offload_optimizer")) return {fixed_.at.offload_optimizer};
  if (asks_for_weights_on_host(fixed_)) return {true};
  return request_.offload ? std::vector{false, true} : std::vector{false};
}

// As check_weights_on_host has it.
bool HostSpace::may_hold_weights(const PlanCandidate& at) const {
  const bool sums_several = request_.workload.global_batch / at.mesh.data > at.microbatch;
  return at.zero_stage == 3 && at.offload_optimizer && at.mesh.tensor == 1 && at.reshard_ranks == 1 &&
         (!sums_several || at.accumulation == sim::Accumulation::ReduceEach);
}

std::vector<bool> HostSpace::weights(const PlanCandidate& at) {
  PlanCandidate with_word = at;
  with_word.offload_parameters = true;
  const bool possible = may_hold_weights(at);
  if (fixed_.has("offload_parameters"))
    return fixed_.at.offload_parameters && !possible ? std::vector<bool>{} : std::vector{fixed_.at.offload_parameters};
  std::vector<bool> all;
  const bool equals_other = at.mesh.copies() == 1 && at.zero_stage == 3 && !fixed_.has("zero");
  if (!equals_other) all.push_back(false);
  if (possible && request_.offload && sharding_.says(with_word)) all.push_back(true);
  return all;
}

// Inputs that wait for their backward are those of recomputed blocks; where they go the optimizer goes first, which moves less for more.
std::vector<bool> HostSpace::inputs(const PlanCandidate& candidate) const {
  const bool possible = candidate.recompute == sim::Recompute::Full && candidate.scope == sim::RecomputeScope{};
  if (fixed_.has("offload_activations"))
    return fixed_.at.offload_activations && !possible ? std::vector<bool>{} : std::vector{fixed_.at.offload_activations};
  return request_.offload && possible && candidate.offload_optimizer ? std::vector{false, true} : std::vector{false};
}

void HostSpace::vary_all(std::vector<PlanCandidate>& all) {
  vary(all, &PlanCandidate::offload_optimizer, [&](const PlanCandidate&) { return optimizers(); });
  vary(all, &PlanCandidate::offload_parameters, [&](const PlanCandidate& at) { return weights(at); });
  vary(all, &PlanCandidate::offload_activations, [&](const PlanCandidate& at) { return inputs(at); });
}

}  // namespace planner
