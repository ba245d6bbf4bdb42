// What a search has proven, as one sentence with its counts.
#pragma once

#include <string>

#include "planner/search.h"

namespace planner {

struct Proven {
  const SearchRequest& request;
  const SearchResult& result;  // with its counts and plans
  bool ended = false;          // before all was judged
  sim::SimTime slowest{};      // of the ranks, as they are ranked
};
std::string proof_of(const Proven& proven);

}  // namespace planner
