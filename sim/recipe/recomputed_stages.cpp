#include "sim/recipe/recomputed_stages.h"

#include <fmt/format.h>

#include <algorithm>

namespace sim {
namespace {

constexpr const char *kPairs = "recompute-num-layers-per-stage", *kMethods = "recompute-method-per-stage",
                     *kEach = "custom-recompute-layers-per-stage", *kFewer = "activations-checkpoint-layers-per-pipeline";

constexpr double kMostSaid = 1e6;

std::vector<std::int64_t> counts_in(const std::string& text) {
  std::vector<std::int64_t> counts;
  for (const double number : numbers_of(text)) counts.push_back(static_cast<std::int64_t>(std::clamp(number, 0.0, kMostSaid)));
  return counts;
}
std::vector<std::int64_t> counts_said(const Draft& draft, const char* key) { return counts_in(text_of(draft, key, "")); }

bool are_equal(const std::vector<std::int64_t>& all) { return std::ranges::adjacent_find(all, std::ranges::not_equal_to()) == all.end(); }

// Uniform (0): all blocks of the stage.
std::vector<std::int64_t> of_pairs(Draft& draft, std::int64_t stages) {
  std::vector<std::int64_t> counts = numbers_in_pairs(text_of(draft, kPairs, ""), stages);
  const std::vector<std::int64_t> methods = numbers_in_pairs(text_of(draft, kMethods, ""), stages);
  const bool are_alike = are_equal(counts) && are_equal(methods);
  if (are_alike && !counts.empty() && !methods.empty() && methods.front() == 0)
    draft.plan.recompute_scope.together = static_cast<std::int32_t>(std::max<std::int64_t>(1, counts.front()));
  for (std::size_t stage = 0; stage < std::min(counts.size(), methods.size()); ++stage) {
    const bool is_uniform = methods[stage] == 0;
    if (is_uniform && counts[stage] > 1 && !are_alike)
      draft.lost.push_back(
          {kPairs, fmt::format("stage {} recomputes {} blocks together, in the plan each by itself", stage, counts[stage]), "mind memory"});
    if (is_uniform) counts[stage] = draft.plan.model.layers;
  }
  return counts;
}

std::vector<std::int64_t> fewer_by_stage(const Draft& draft, std::int64_t stages) {
  std::vector<std::int64_t> counts;
  const double fewer = std::min(number_of(draft, kFewer, 0), kMostSaid);
  for (std::int64_t stage = 0; stage < stages; ++stage)
    counts.push_back(draft.plan.recompute_scope.first - static_cast<std::int64_t>(fewer * static_cast<double>(stage)));
  return counts;
}

std::vector<std::int64_t> counts_of(Draft& draft, std::int64_t stages, const char*& key) {
  if (said(draft, key = kPairs) != nullptr) return of_pairs(draft, stages);
  if (said(draft, key = kEach) != nullptr) return counts_said(draft, kEach);
  const bool is_less = number_of(draft, key = kFewer, 0) > 0;
  return is_less && draft.plan.recompute_scope.first > 0 ? fewer_by_stage(draft, stages) : std::vector<std::int64_t>{};
}

}  // namespace

std::vector<std::int64_t> numbers_in_pairs(const std::string& text, std::int64_t stages) {
  const std::vector<std::int64_t> pairs = counts_in(text);
  std::vector<std::int64_t> all;
  for (std::size_t at = 0; at + 1 < pairs.size(); at += 2)
    for (std::int64_t stage = 0; stage < pairs[at] && std::ssize(all) <= stages; ++stage) all.push_back(pairs[at + 1]);
  return all;
}

std::int32_t blocks_together(const Value& said) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(said.count(), 1, static_cast<std::int64_t>(kMostSaid)));
}

namespace {

void settle_counted_stages(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  const std::int64_t stages = plan.mesh.pipeline;
  const char* key = nullptr;
  std::vector<std::int64_t> counts = plan.recompute == Recompute::Full ? counts_of(draft, stages, key) : std::vector<std::int64_t>{};
  if (counts.empty() && (key == nullptr || key == kFewer)) return;
  if (std::ssize(counts) != stages)
    return draft.wrong.push_back({key, fmt::format("is of {} stages, and there are {}", counts.size(), stages), "say it of each"});
  for (std::int64_t& count : counts) count = std::clamp<std::int64_t>(count, 0, plan.model.layers);
  const bool is_one = are_equal(counts);
  if (is_one && counts.front() == 0) plan.recompute = Recompute::None;
  plan.recompute_scope.first = is_one && plan.recompute_scope.together == 1 ? static_cast<std::int32_t>(counts.front()) : 0;
  if (!is_one) plan.recompute_scope.by_stage.assign(counts.begin(), counts.end());
}

// Each by itself where nothing is recomputed as a whole, where only some are, and where units would be gathered for it.
void settle_blocks_together(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  const std::int32_t together =
      std::min(plan.recompute_scope.together, static_cast<std::int32_t>(std::max<std::int64_t>(1, plan.model.layers)));
  const bool is_full = plan.recompute == Recompute::Full && plan.recompute_scope.first == 0 && plan.recompute_scope.by_stage.empty(),
             is_known = plan.zero_stage < 3 && !plan.offload_parameters && !plan.offload_activations;
  plan.recompute_scope.together = is_full && is_known ? together : 1;
  if (together > 1 && is_full && !is_known)
    draft.lost.push_back({"recompute-num-layers",
                          fmt::format("is {}: {} blocks are recomputed together, in the plan each by itself", together, together),
                          "mind memory"});
}

}  // namespace

void settle_recomputed_stages(Draft& draft) {
  RecomputeScope& scope = draft.plan.recompute_scope;
  const bool is_full = draft.plan.recompute == Recompute::Full;
  scope.first = std::min(scope.first, is_full ? static_cast<std::int32_t>(draft.plan.model.layers) : 0);
  settle_counted_stages(draft);
  settle_blocks_together(draft);
}

}  // namespace sim
