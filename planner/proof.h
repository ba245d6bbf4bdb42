// What a search has proven: how much faster a plan can be at best, and all of it as one sentence with its counts.
#pragma once

#include <string>

#include "planner/candidates.h"
#include "planner/search.h"

namespace planner {

// What a search knows of all candidates when it ends.
struct Known {
  const Candidates& candidates;
  const std::vector<Judgement>& judgements;      // of each
  const std::vector<sim::SimTime>& shape_least;  // by shape: what none of its plans takes less than; empty: nothing is known
  sim::Bytes safe{};                             // what occupies more is too risky
};
// From the best to the fastest that what is left out could be; none: nothing is known of that.
std::optional<double> proven_gap(const Known& known, sim::SimTime best);

struct Proven {
  const SearchRequest& request;
  const SearchResult& result;  // with its counts and plans
  bool ended = false;          // before all was judged
  std::string last{};          // of the ranks, its measure
};
std::string proof_of(const Proven& proven);

}  // namespace planner
