// Why families of candidates are out, from what became of their members.
// Values first (Reason), sentences by reason.h. Simulates only to check a fix before it is offered.
#pragma once

#include <atomic>
#include <vector>

#include "planner/candidates.h"
#include "planner/evaluator.h"
#include "planner/search.h"

namespace planner {

// What became of every candidate: the input of the explanation of families.
struct Judged {
  const SearchRequest& request;
  const sim::ModelGraph& model;
  const Candidates& candidates;
  const std::vector<Judgement>& judgements;   // by candidate; none is Open
  const std::atomic<bool>* cancel = nullptr;  // ends the explanation soon, with the families explained so far
  bool is_canceled() const { return cancel != nullptr && cancel->load(); }
};

// Axis values and meshes of which no candidate was simulated and fits, each with its reason, numbers and nearest checked fix.
// worst_ranked: the K-th best plan's rank, which the bounds of Beaten candidates exceed.
std::vector<Exclusion> excluded_families(const Judged& judged, sim::SimTime worst_ranked);

}  // namespace planner
