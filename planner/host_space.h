// What of a plan may lie on the host: states of the optimizer, weights, inputs of blocks that are computed again.
#pragma once

#include <vector>

#include "planner/fixed_axes.h"
#include "planner/sharding_space.h"

namespace planner {

inline bool asks_for_weights_on_host(const FixedAxes& fixed) { return fixed.has("offload_parameters") && fixed.at.offload_parameters; }

class HostSpace {
 public:
  HostSpace(const SearchRequest& request, const FixedAxes& fixed, ShardingSpace& sharding);  // all must outlive it

  void vary_all(std::vector<PlanCandidate>& all);  // whose sharding and recomputation are chosen

 private:
  std::vector<bool> optimizers() const;
  bool may_hold_weights(const PlanCandidate& at) const;
  std::vector<bool> weights(const PlanCandidate& at);
  std::vector<bool> inputs(const PlanCandidate& at) const;

  const SearchRequest& request_;
  const FixedAxes& fixed_;
  ShardingSpace& sharding_;
};

}  // namespace planner
