// What a search has proven, as one sentence with its counts.
#pragma once

#include <string>

#include "planner/search.h"

namespace planner {

bool proves_front(const SearchRequest& request);  // beside the ranks

struct Proven {
  const SearchRequest& request;
  const SearchResult& result;  // with its counts and plans
  bool ended = false;          // before all was judged
  std::string last{};          // of the ranks, its measure
};
std::string proof_of(const Proven& proven);

}  // namespace planner
