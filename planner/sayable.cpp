#include "planner/sayable.h"

#include <algorithm>
#include <string>

#include "sim/schedule/schedule.h"
#include "sim/units/at.h"

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

// What it refuses elsewhere (stages that are cut unevenly) is of the shape.
std::optional<sim::Violation> why_not_performed(const SearchRequest& request, std::int32_t schedule) {
  if (!request.why_not) return std::nullopt;
  constexpr sim::DeviceMesh kTwoStages{.pipeline = 2};
  SearchRequest small = request;
  small.cluster.devices = kTwoStages.ranks();
  small.workload.global_batch = 8;
  std::optional<sim::Violation> refused;
  for (std::int32_t chunks = 1; chunks <= 2; ++chunks) {
    if (sim::at(sim::all_schedules(), schedule).why_unsupported({.stages = 2, .microbatches = 8, .chunks = chunks})) continue;
    const std::vector<sim::Violation> all = request.why_not(make_plan(small, {.mesh = kTwoStages, .schedule = schedule, .chunks = chunks}));
    const auto of_order = std::ranges::find(all, std::string("/schedule"), &sim::Violation::where);
    if (of_order == all.end()) return std::nullopt;
    refused = *of_order;
  }
  return refused;
}

std::optional<sim::Violation> why_not_cut_so(const SearchRequest& request, bool sequence_parallel) {
  if (!request.why_not) return std::nullopt;
  constexpr sim::DeviceMesh kTwoRanks{.tensor = 2};
  SearchRequest small = request;
  small.cluster.devices = kTwoRanks.ranks();
  const std::vector<sim::Violation> all = request.why_not(make_plan(small, {.mesh = kTwoRanks, .sequence_parallel = sequence_parallel}));
  const auto of_cut = std::ranges::find(all, std::string("/sequence_parallel"), &sim::Violation::where);
  return of_cut == all.end() ? std::nullopt : std::optional(*of_cut);
}

const std::optional<sim::Violation>& SayableSharding::why_not(const PlanCandidate& candidate) {
  const bool is_pipeline = candidate.mesh.pipeline > 1, has_replicas = candidate.mesh.replicas > 1, is_near = candidate.reshard_ranks > 1;
  const auto [known, is_new] = known_.try_emplace(
      {is_pipeline, has_replicas, candidate.zero_stage, candidate.accumulation, candidate.reshard, is_near, candidate.offload_parameters});
  if (!is_new) return known->second;
  const std::int32_t replicas = has_replicas ? 2 : 1, near = is_near ? 2 : 1;
  const PlanCandidate usual{.mesh = {.data = 2 * near * replicas, .pipeline = is_pipeline ? 2 : 1, .replicas = replicas},
                            .schedule = candidate.schedule};
  PlanCandidate with_words = usual;
  with_words.zero_stage = candidate.zero_stage;
  with_words.accumulation = candidate.accumulation;
  with_words.reshard = candidate.reshard;
  with_words.reshard_ranks = near;
  with_words.offload_optimizer = with_words.offload_parameters = candidate.offload_parameters;
  return known->second = why_not_sayable(request_, with_words);
}

void UnsayableFamilies::tell(const std::string& family, const sim::Violation& refused) {
  if (!told_.insert(family).second) return;
  excluded_.push_back(exclude(family, {"not_runnable", {{"where", refused.where}, {"problem", refused.problem}}}, refused.remedy));
}

}  // namespace planner
