#include "planner/recomputation.h"

#include <algorithm>
#include <array>

#include "planner/sayable.h"
#include "planner/vary.h"
#include "sim/units/random_bits.h"

namespace planner {
namespace {

using sim::Module;
using sim::Modules;

// Norms and activations are read and written once; the latent projections of attention and the shared experts are small products; feed-forwards are most
// of a block.
constexpr std::array kLevels = {Module::LayerNorm | Module::MoeActivation, Modules(Module::MlaUpProjection), Modules(Module::SharedExperts),
                                Module::Mlp | Module::Moe};

Modules parts_of(const sim::ModelGraph& model) {
  Modules parts;
  for (const sim::LayerIndex first : model.firsts)
    for (const sim::SegmentGraph& segment : model.layer(first).segments) {
      parts = parts | segment.modules;
      for (const sim::Operator& op : segment.operators) parts = parts | op.modules;
    }
  return parts;
}

// Meshes of a kind: what a program cannot say beside others of them is asked of a small one.
struct Kind {
  const SearchRequest& request;
  bool has_context, shares_sequence;
  bool says(Modules modules) const {
    PlanCandidate word{.sequence_parallel = shares_sequence, .recompute = sim::Recompute::Selective, .scope = {.modules = modules}};
    word.mesh.context = has_context ? 2 : 1;
    word.mesh.tensor = shares_sequence ? 2 : 1;
    return !why_not_sayable(request, word);
  }
};

std::vector<Modules> levels_of(const Kind& kind, const sim::ModelGraph& model) {
  if (model.config.convolution) return {};
  const Modules parts = parts_of(model);
  const sim::ModelConfig& network = kind.request.model;
  const bool is_latent = network.attention.kind == sim::AttentionKind::Latent;
  const auto has = [&](Module module) {
    return parts.has(module) && (is_latent || module != Module::MlaUpProjection) && kind.says(module);
  };
  std::vector<Modules> levels;
  Modules all = network.attention_dropout > 0 && has(Module::CoreAttention) ? Modules(Module::CoreAttention) : Modules();
  for (const Modules level : kLevels) {
    Modules alone;
    for (std::size_t at = 0; at < sim::kNumRecomputed; ++at)
      if (const auto module = static_cast<Module>(at); level.has(module) && has(module)) alone = alone | module;
    if (alone.none()) continue;
    all = kind.says(all | alone) ? all | alone : alone;
    levels.push_back(all);
  }
  if (kind.request.why_not && has(Module::Op)) levels.emplace_back(Module::Op);  // a choice of its own, of one program
  return levels;
}

}  // namespace

const std::vector<Modules>& ModuleLevels::of(const PlanCandidate& candidate) {
  const bool has_context = candidate.mesh.context > 1;
  const auto [known, is_new] = known_.try_emplace({has_context, candidate.sequence_parallel});
  if (is_new) known->second = levels_of({request_, has_context, candidate.sequence_parallel}, model_);
  return known->second;
}

bool RecomputationSpace::keeps_scores(const SearchRequest& request, const FixedAxes& fixed, const FixedAxes& own) {
  sim::ParallelPlan asked;
  asked.attention = attention_of(fixed, own);
  return request.model.attention_dropout > 0 || sim::writes_scores(attention_kernel(asked, request.cluster.software));
}

std::vector<sim::Recompute> RecomputationSpace::recomputes(const PlanCandidate& at) const {
  using enum sim::Recompute;
  std::vector<sim::Recompute> all = fixed_.has("recompute") ? std::vector{fixed_.at.recompute} : std::vector{None, Selective, Full};
  if (at.expert_overlap) std::erase(all, Full);  // which exchanges tokens again
  return all;
}

// Selective without parts computes scores again, which an attention keeps that writes them out, or drops some.
std::vector<sim::RecomputeScope> RecomputationSpace::scopes(const PlanCandidate& at) {
  const bool selective = at.recompute == sim::Recompute::Selective;
  const auto goes = [&](const sim::RecomputeScope& scope) {
    if (scope == sim::RecomputeScope{}) return !selective || keeps_scores_ || fixed_.has("recompute");
    if (at.expert_overlap && scope.modules.has(sim::Module::Moe)) return false;
    return scope.modules.none() ? at.recompute == sim::Recompute::Full : selective;
  };
  std::vector<sim::RecomputeScope> all{{}};
  if (selective)
    for (const sim::Modules modules : levels_.of(at)) all.push_back({.modules = modules});
  if (own_.has("recompute_scope") && std::ranges::find(all, own_.at.scope) == all.end()) all.push_back(own_.at.scope);
  if (fixed_.has("recompute_scope")) all = {fixed_.at.scope};
  std::erase_if(all, [&](const sim::RecomputeScope& scope) { return !goes(scope); });
  return all;
}

void RecomputationSpace::vary_all(std::vector<PlanCandidate>& all) {
  vary(all, &PlanCandidate::recompute, [&](const PlanCandidate& at) { return recomputes(at); });
  vary(all, &PlanCandidate::scope, [&](const PlanCandidate& at) { return scopes(at); });
}

bool spares_some(const sim::ParallelPlan& plan) {
  return plan.recompute == sim::Recompute::Full && plan.recompute_scope != sim::RecomputeScope{.together = plan.recompute_scope.together};
}

// Of lists a number with the highest bit, and a hash in the others.
std::int64_t number_of_list(const sim::RecomputeScope& scope) {
  constexpr int kBits = 49;
  std::uint64_t hash = static_cast<std::uint64_t>(scope.every) * 2 + (scope.but_last ? 1 : 0);
  hash = sim::random_bits(sim::RandomKey{hash}, static_cast<std::uint64_t>(scope.together));
  for (const std::int32_t blocks : scope.by_stage) hash = sim::random_bits(sim::RandomKey{hash}, static_cast<std::uint64_t>(blocks));
  constexpr std::uint64_t kHighest = std::uint64_t{1} << kBits;
  return static_cast<std::int64_t>(kHighest | (hash & (kHighest - 1)));
}

std::int64_t scope_number(const sim::RecomputeScope& scope) {
  if (!scope.by_stage.empty() || scope.together > 1) return number_of_list(scope);
  std::int64_t number = scope.but_last ? 1 : 0;
  number = number << 20 | (scope.every - 1);
  number = number << 20 | scope.first;
  for (std::size_t at = 0; at < sim::kNumRecomputed; ++at) number = number << 1 | (scope.modules.has(static_cast<Module>(at)) ? 1 : 0);
  return number;
}

}  // namespace planner
