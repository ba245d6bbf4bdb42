// Sets of time as sorted, disjoint intervals: how much of one lies behind another.
#pragma once

#include <vector>

#include "sim/units/sim_time.h"

namespace sim {

class Intervals {
 public:
  struct Interval {
    SimTime start{}, end{};
  };
  explicit Intervals(std::vector<Interval> intervals);  // in any order, overlapping or not
  SimTime length() const;
  SimTime length_within(const Intervals& other) const;  // of the common part
  Intervals without(const Intervals& other) const;

 private:
  std::vector<Interval> intervals_;
};

}  // namespace sim
