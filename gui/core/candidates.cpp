#include "gui/core/candidates.h"

#include <algorithm>
#include <map>

namespace gui {

std::vector<Candidate> candidatesOf(const planner::SearchResult& result) {
  std::vector<Candidate> all;
  std::map<std::string, std::size_t> known;
  for (const planner::RankedPlan& plan : result.ranked) {
    known.emplace(sim::plan_hash(plan.plan), all.size());
    all.push_back({plan, false});
  }
  for (const planner::RankedPlan& plan : result.pareto) {
    const auto [at, is_new] = known.emplace(sim::plan_hash(plan.plan), all.size());
    if (is_new) all.push_back({plan, true});
    all[at->second].on_front = true;
  }
  return all;
}

}  // namespace gui
