#include "planner/sharding_space.h"

#include <fmt/format.h>

#include <string>

#include "planner/host_space.h"
#include "planner/vary.h"
#include "sim/schedule/schedule.h"
#include "sim/sharding/sharding.h"
#include "sim/units/at.h"

namespace planner {

ShardingSpace::ShardingSpace(const SearchRequest& request, const FixedAxes& fixed, const sim::ModelGraph& model,
                             UnsayableFamilies& unsayable)
    : request_(request), fixed_(fixed), model_(model), unsayable_(unsayable) {}

std::vector<std::int32_t> ShardingSpace::zero_stages(const sim::DeviceMesh& mesh) const {
  if (fixed_.has("zero")) return {fixed_.at.zero_stage};
  if (mesh.replicas > 1) return {1, 2, 3};
  const bool may_need_host = mesh.tensor == 1 && (request_.offload || asks_for_weights_on_host(fixed_));
  return mesh.copies() > 1 ? std::vector{0, 1, 2, 3} : may_need_host ? std::vector{0, 3} : std::vector{0};
}

std::vector<sim::Accumulation> ShardingSpace::accumulations(const PlanCandidate& candidate) const {
  using enum sim::Accumulation;
  if (fixed_.has("accumulation")) return {fixed_.at.accumulation};
  const bool sums_several = request_.workload.global_batch / candidate.mesh.data > candidate.microbatch;
  const bool splits = sim::at(sim::all_schedules(), candidate.schedule).splits_backward;
  const bool sums_copies = candidate.mesh.copies() > 1 || candidate.zero_stage == 3;  // 3 of one: onto the host
  return sums_several && sums_copies && !splits ? std::vector{ReduceLast, ReduceEach} : std::vector{ReduceLast};
}

std::vector<bool> ShardingSpace::reshards(std::int32_t zero_stage) const {
  if (zero_stage < 3) return {true};
  return fixed_.has("reshard") ? std::vector{fixed_.at.reshard} : std::vector{true, false};
}

// All shards, or those of a node. A size that was asked for leaves out who has none.
std::vector<std::int32_t> ShardingSpace::reshard_sizes(const PlanCandidate& candidate) const {
  const sim::DeviceMesh& mesh = candidate.mesh;
  const bool possible = candidate.zero_stage == 3 && candidate.reshard;
  if (fixed_.has("reshard_ranks"))
    return fixed_.at.reshard_ranks > 1 && !possible ? std::vector<std::int32_t>{} : std::vector{fixed_.at.reshard_ranks};
  if (!possible) return {1};
  const std::int32_t near = request_.cluster.devices_per_node() / mesh.tensor;
  const bool fills_node =
      near > 1 && near * mesh.tensor == request_.cluster.devices_per_node() && near < mesh.shards() && mesh.shards() % near == 0;
  return fills_node ? std::vector{1, near} : std::vector{1};
}

std::vector<std::int32_t> ShardingSpace::unit_sizes(const PlanCandidate& at) const {
  const bool possible = at.zero_stage == 3;
  if (fixed_.has("layers_per_unit"))
    return fixed_.at.layers_per_unit > 1 && !possible ? std::vector<std::int32_t>{} : std::vector{fixed_.at.layers_per_unit};
  if (!possible) return {1};
  const std::int64_t parts = std::int64_t{at.mesh.pipeline} * at.chunks, most = (request_.model.inner_layers() + parts - 1) / parts;
  std::int64_t block = 0;  // a rank's parameters of the last one: with experts where some blocks have them
  for (const sim::Parameter& parameter : model_.layers[sim::count_of(model_.num_blocks())].parameters)
    block += sim::local_elements(parameter, at.mesh);
  std::vector<std::int32_t> sizes{1};
  while (std::int64_t{sizes.back()} * 2 <= most && sizes.back() * block < kLeastUnit) sizes.push_back(sizes.back() * 2);
  return sizes;
}

// What the program that is asked for has no words for is told once.
bool ShardingSpace::is_sayable(const PlanCandidate& at) {
  for (const char* axis : {"zero", "accumulation", "reshard", "reshard_ranks"})
    if (fixed_.has(axis)) return true;
  const std::optional<sim::Violation>& refused = sayable_.why_not(at);
  if (!refused) return true;
  std::string family = fmt::format("zero={} accumulation={}", at.zero_stage, sim::at(sim::kAccumulationNames, at.accumulation));
  if (at.zero_stage == 3) family += fmt::format(" reshard={}", at.reshard);
  PlanCandidate other = at, of_all_shards = at;
  other.mesh.pipeline = at.mesh.pipeline > 1 ? 1 : 2;
  of_all_shards.reshard_ranks = 1;
  if (!sayable_.why_not(other)) family = (at.mesh.pipeline > 1 ? "pipeline=2.. " : "pipeline=1 ") + family;
  if (at.reshard_ranks > 1 && !sayable_.why_not(of_all_shards)) family = fmt::format("reshard_ranks={}", at.reshard_ranks);
  unsayable_.tell(family, *refused);
  return false;
}

void ShardingSpace::vary_all(std::vector<PlanCandidate>& all) {
  vary(all, &PlanCandidate::zero_stage, [&](const PlanCandidate& at) { return zero_stages(at.mesh); });
  vary(all, &PlanCandidate::accumulation, [&](const PlanCandidate& at) { return accumulations(at); });
  vary(all, &PlanCandidate::reshard, [&](const PlanCandidate& at) { return reshards(at.zero_stage); });
  vary(all, &PlanCandidate::reshard_ranks, [&](const PlanCandidate& at) { return reshard_sizes(at); });
  std::erase_if(all, [&](const PlanCandidate& at) { return !is_sayable(at); });
  vary(all, &PlanCandidate::layers_per_unit, [&](const PlanCandidate& at) { return unit_sizes(at); });
}

}  // namespace planner
