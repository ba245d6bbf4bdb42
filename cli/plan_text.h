// What `plan` prints: the ranking, the Pareto front, and what was left out with its reasons.
#pragma once

#include <string>

#include "cli/console.h"
#include "planner/search.h"

namespace cli {

std::string search_text(const planner::SearchRequest& request, const planner::SearchResult& result, const Console& console);

// "data 2 x tensor 1 x pipeline 2, 1f1b, 4 microbatches of 1, zero0, recompute none"
std::string plan_summary(const sim::ParallelPlan& plan);

}  // namespace cli
