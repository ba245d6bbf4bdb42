// Options of `plan` -> what the planner is asked. Reads the model and the cluster.
#pragma once

#include "cli/options.h"
#include "planner/search.h"

namespace cli {

planner::SearchRequest search_request(const PlanOptions& options);  // throws sim::InputError

}  // namespace cli
