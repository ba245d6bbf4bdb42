// What blocks may compute again: nothing; named parts, from those that free most for their time on; everything.
// Of the parts every level holds those before it. Other sets of them cost more time for what they free (docs/decisions/260 has the figures).
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "planner/fixed_axes.h"
#include "planner/plan_candidate.h"
#include "sim/model/model_graph.h"

namespace planner {

// Of the levels those that the network has parts for and the program has words for on meshes of that kind (several context ranks, sequence parallelism), each
// set once, the smallest first. Where a program cannot say a level beside those before it, it stands alone.
class ModuleLevels {
 public:
  ModuleLevels(const SearchRequest& request, const sim::ModelGraph& model) : request_(request), model_(model) {}
  const std::vector<sim::Modules>& of(const PlanCandidate& candidate);

 private:
  const SearchRequest& request_;
  const sim::ModelGraph& model_;
  std::map<std::pair<bool, bool>, std::vector<sim::Modules>> known_;
};

// Of candidates whose experts are chosen.
class RecomputationSpace {
 public:
  // All must outlive it. `own`: what the plan that is asked about has.
  RecomputationSpace(const SearchRequest& request, const FixedAxes& fixed, const FixedAxes& own, const sim::ModelGraph& model)
      : fixed_(fixed), own_(own), levels_(request, model), keeps_scores_(keeps_scores(request, fixed, own)) {}
  void vary_all(std::vector<PlanCandidate>& all);

 private:
  static bool keeps_scores(const SearchRequest& request, const FixedAxes& fixed, const FixedAxes& own);
  std::vector<sim::Recompute> recomputes(const PlanCandidate& at) const;
  std::vector<sim::RecomputeScope> scopes(const PlanCandidate& at);

  const FixedAxes &fixed_, &own_;
  ModuleLevels levels_;
  bool keeps_scores_;
};

bool spares_some(const sim::ParallelPlan& plan);  // some blocks, or some microbatches, while others are computed again as a whole
std::int64_t scope_number(const sim::RecomputeScope& scope);  // another for each scope, 0 of the usual one; below 2^50

}  // namespace planner
