// Candidates, an axis after the other.
#pragma once

#include <utility>
#include <vector>

#include "planner/plan_candidate.h"

namespace planner {

// Each of them, once for each value that it may have on the axis.
template <class Value, class Values>
void vary(std::vector<PlanCandidate>& all, Value PlanCandidate::*axis, Values values) {
  std::vector<PlanCandidate> varied;
  for (const PlanCandidate& one : all)
    for (const auto& value : values(one)) {
      varied.push_back(one);
      varied.back().*axis = value;
    }
  all = std::move(varied);
}

}  // namespace planner
