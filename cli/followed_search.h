// A search as a terminal follows it: lines of progress, and an end when its budget is over or Ctrl-C comes.
#pragma once

#include <optional>
#include <string>

#include "planner/search.h"

namespace cli {

// planner::search, or another that takes the same.
using SearchWay = planner::SearchResult (*)(const planner::SearchRequest&, const planner::Progress&, const std::atomic<bool>*);

struct FollowedSearch {
  planner::SearchResult result;
  bool ended = false;  // before it was through
};
// `what`: "plan", of its lines.
FollowedSearch followed_search(SearchWay way, const planner::SearchRequest& request, const std::string& what,
                               std::optional<sim::Seconds> budget);

}  // namespace cli
