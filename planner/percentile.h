// What the times of a robust search are ranked by: the upper end of a prediction's interval, of which nine of ten steps are below.
#pragma once

#include <array>

#include "planner/plan_candidate.h"

namespace planner {

class Percentile {
 public:
  explicit Percentile(const SearchRequest& request);                              // of a search that is not robust times stay as they are
  sim::SimTime of(sim::SimTime predicted, const PlanCandidate& candidate) const;  // never below `predicted`

 private:
  std::array<std::array<double, 2>, 2> wider_{};  // as a share; by what an interval depends on: context ranks, use of the host
};

}  // namespace planner
