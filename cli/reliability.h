// How often devices fail and what that costs, as options say it: of simulate --steps and of plan --objective time-to-train.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"
#include "planner/search.h"
#include "sim/goodput/goodput.h"

namespace cli {

sim::Seconds duration_of(const std::string& option, const std::string& text, std::vector<sim::Violation>& violations);

sim::Reliability reliability_of(const FailureOptions& options, std::vector<sim::Violation>& violations);

// Of a request whose model, cluster, workload and objective are known. Where storage has a bandwidth, saves take as long as the training's state does.
planner::WholeTraining whole_training_of(const ObjectiveOptions& options, const planner::SearchRequest& request,
                                         std::vector<sim::Violation>& violations);

}  // namespace cli
