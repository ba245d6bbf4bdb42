// How unevenly a router deals tokens out, as a rank sees it: the rows of each expert that it holds, of each layer and microbatch of a step.
//
//   spread = standard deviation over mean = sqrt(times * squares / rows^2 - 1)        the `spread` of /workload/expert_loads (sim/model/expert_loads.h)
#pragma once

#include <cstdint>
#include <optional>

namespace sim {

struct ExpertRows {
  double times = 0, rows = 0,
         squares = 0;  // an expert in a layer and microbatch; sum of its rows; sum of their squares. Whole, exact up to 2^53
  void add(std::int64_t of_an_expert);
  ExpertRows& operator+=(const ExpertRows& other);
  bool operator==(const ExpertRows&) const = default;
};
std::optional<double> spread_of(const ExpertRows& counted);  // nullopt: no rows

}  // namespace sim
