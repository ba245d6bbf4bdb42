// --fix axis=value, read into a candidate. Knows names and values, not which combinations make sense.
#pragma once

#include <set>
#include <string_view>

#include "planner/plan_candidate.h"

namespace planner {

struct FixedAxes {
  PlanCandidate at;  // of it, what is given
  std::set<std::string_view> given;
  bool has(std::string_view axis) const { return given.count(axis) > 0; }
};

FixedAxes read_fixed_axes(const Fixed& fixed);  // throws sim::InputError with every unknown axis and value

}  // namespace planner
