// How weights, gradients and states are dealt out over the data ranks of a shape: ZeRO stage, accumulation, resharding, who keeps weights, layers of a unit. What
// the program has no words for is told once.
#pragma once

#include <vector>

#include "planner/fixed_axes.h"
#include "planner/sayable.h"
#include "planner/search.h"
#include "sim/model/model_graph.h"

namespace planner {

inline constexpr std::int64_t kLeastUnit = 10'000'000;  // parameters: gathering them takes several times what starting a collective does

class ShardingSpace {
 public:
  ShardingSpace(const SearchRequest& request, const FixedAxes& fixed, const sim::ModelGraph& model,
                UnsayableFamilies& unsayable);  // all must outlive it

  void vary_all(std::vector<PlanCandidate>& all);  // of one shape
  std::vector<std::int32_t> unit_sizes(const PlanCandidate& at) const;
  bool says(const PlanCandidate& with_word) { return !sayable_.why_not(with_word); }

 private:
  std::vector<std::int32_t> zero_stages(const sim::DeviceMesh& mesh) const;
  std::vector<sim::Accumulation> accumulations(const PlanCandidate& candidate) const;
  std::vector<bool> reshards(std::int32_t zero_stage) const;
  std::vector<std::int32_t> reshard_sizes(const PlanCandidate& candidate) const;
  bool is_sayable(const PlanCandidate& at);

  const SearchRequest& request_;
  const FixedAxes& fixed_;
  const sim::ModelGraph& model_;
  UnsayableFamilies& unsayable_;
  SayableSharding sayable_{request_};
};

}  // namespace planner
