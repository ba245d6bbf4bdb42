// What blocks may compute again: nothing; named parts, from those that free most for their time on; everything.
// Of the parts every level holds those before it. Other sets of them cost more time for what they free (docs/decisions/260 has the figures).
#pragma once

#include <cstdint>
#include <vector>

#include "planner/plan_candidate.h"
#include "sim/model/model_graph.h"

namespace planner {

// Of the levels those that the network has parts for and the program has words for, each set once, the smallest first.
std::vector<sim::Modules> module_levels(const SearchRequest& request, const sim::ModelGraph& model);

std::int64_t scope_number(const sim::RecomputeScope& scope);  // another for each scope, 0 of the usual one; below 2^50

}  // namespace planner
