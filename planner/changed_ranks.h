// Plans that a search has found, changed by what is no axis of its space: an order made for their passes, numbers of recomputed blocks by stage. A search
// proves what it says of its space, so that where a change was taken the gap is against plans without.
#pragma once

#include <atomic>
#include <optional>

#include "planner/search.h"

namespace planner {

struct RankChange {
  int most_tried = 1;  // of the ranks, the best first
  bool (*may_be_tried)(const SearchRequest& request, const sim::ParallelPlan& plan);
  std::optional<RankedPlan> (*better)(const SearchRequest& request, const RankedPlan& ranked);  // none: it stays
};
// Ranks are ordered anew.
void change_ranks(const SearchRequest& request, SearchResult& result, const RankChange& change, const std::atomic<bool>* cancel);

// The rank with another plan of its network, whose step was simulated; none where rules or the program refuse it, or it may run out of memory, or is not better.
std::optional<RankedPlan> changed_rank(const SearchRequest& request, const RankedPlan& ranked, const sim::ParallelPlan& plan,
                                       sim::SimulationResult result);

}  // namespace planner
