// The planner's answer as one list: the ranking first, then what stands on the Pareto front beside it.
#pragma once

#include <vector>

#include "planner/search.h"

namespace gui {

struct Candidate {
  planner::RankedPlan plan;
  bool on_front = false;  // no other plan is both faster and smaller
};
std::vector<Candidate> candidatesOf(const planner::SearchResult& result);

}  // namespace gui
