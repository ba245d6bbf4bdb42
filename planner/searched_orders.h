// Plans that a search has found, in pipeline orders made for their passes (sim/engine/searched_plan.h) where those are better than the order of their
// schedule. Not part of the space: a search proves what it says of the orders that schedules give, and bounds on other orders are looser.
#pragma once

#include <atomic>

#include "planner/search.h"

namespace planner {

// Of the ranks the first few whose backwards are split; what the request's program has no words for stays as it is, and so do plans of a fixed schedule.
// Ranks are ordered anew; where an order was taken, the gap is against plans in their schedules' orders.
void search_orders(const SearchRequest& request, SearchResult& result, const std::atomic<bool>* cancel = nullptr);

}  // namespace planner
