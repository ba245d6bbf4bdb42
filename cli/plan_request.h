// Options of `plan` -> what the planner is asked. Reads the model and the cluster.
#pragma once

#include "cli/options.h"
#include "planner/search.h"

namespace cli {

planner::SearchRequest search_request(const PlanOptions& options);  // throws sim::InputError

// The options of --memory-limit and --risk into the request; throws sim::InputError.
void take_limits(const std::string& memory_limit, const std::string& risk, planner::SearchRequest& request);
// What plans are ranked by, of a request whose model, cluster and workload are known; likewise.
void take_objective(const ObjectiveOptions& options, planner::SearchRequest& request);
std::optional<sim::Seconds> budget_of(const std::string& text);  // empty: none; throws sim::InputError

}  // namespace cli
