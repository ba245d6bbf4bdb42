// How near two candidates are, and what to change to get from one to the other: for fixes.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "planner/plan_candidate.h"

namespace planner {

// How far a plan is from another: first by the number of axes to change (the data degree follows from the others), then by how far.
struct Distance {
  std::int32_t axes = 0;
  double ratios = 0;
  auto operator<=>(const Distance&) const = default;
};

Distance distance(const PlanCandidate& a, const PlanCandidate& b);

std::string changes(const PlanCandidate& from, const PlanCandidate& to);  // the axes of `to` that differ: "tensor=2 microbatch=1"

std::string to_text(const std::vector<Argument>& axes);  // "data=4 tensor=2"

}  // namespace planner
