// How experts are dealt out and how their tokens travel, where that is a choice that the program has words for.
//
//   expert_tensor      the tensor ranks share each expert, or each rank has its experts whole; degrees between lie between
//   token_dispatcher   the program's own; the other one, where a group of expert ranks leaves its node; all tokens gathered by all, where that is no more rows
//                      than are sent: at most as many ranks as a token has experts (E - 1 rows a token, and topk (E - 1) / E)
//   expert_overlap     of a shape, as its bounds are others: where backwards are followed by forwards to exchange beside; not with stage 3, gathered tokens,
//                      experts that are computed again, split backwards
#pragma once

#include <vector>

#include "planner/fixed_axes.h"
#include "planner/plan_candidate.h"

namespace planner {

class ExpertSpace {
 public:
  ExpertSpace(const SearchRequest& request, const FixedAxes& fixed);  // both must outlive it

  std::vector<std::int32_t> expert_tensors(const sim::DeviceMesh& mesh) const;  // 0: as the tensor degree is
  std::vector<sim::TokenDispatcher> dispatchers(const PlanCandidate& at) const;
  std::vector<bool> overlaps(const PlanCandidate& shape) const;
  static bool may_overlap(const PlanCandidate& words);  // where its shape does

 private:
  bool has_pairs(const PlanCandidate& at) const;

  const SearchRequest& request_;
  const FixedAxes& fixed_;
  bool cuts_apart_ = false, dispatches_ = false, gathers_ = false, overlaps_ = false;  // there are words for it
  sim::TokenDispatcher other_ = sim::TokenDispatcher::Hierarchical;
};

}  // namespace planner
