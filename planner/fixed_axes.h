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

// The same for all of a space: what is fixed, else that of the plan that is asked about.
inline sim::AttentionWord attention_of(const FixedAxes& fixed, const FixedAxes& own) {
  return (fixed.has("attention") ? fixed : own).at.attention;
}

FixedAxes read_fixed_axes(const Fixed& fixed);  // throws sim::InputError with every unknown axis and value

}  // namespace planner
