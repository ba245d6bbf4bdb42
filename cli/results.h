// What subcommands find, before anybody says it: the command line prints it, the Python package hands it over. Each is made beside the subcommand
// that prints it, and throws sim::InputError. Knows neither terminals nor signals.
#pragma once

#include <functional>
#include <vector>

#include "cli/check_text.h"
#include "cli/options.h"
#include "planner/search.h"
#include "sim/engine/simulate.h"
#include "sim/timeline/comparison.h"
#include "sim/validation/fit.h"
#include "sim/validation/predict_rows.h"

namespace cli {

// How a search is followed and ended is the caller's own: by lines of progress and Ctrl-C, or by a notebook.
using Search = std::function<planner::SearchResult(const planner::SearchRequest&)>;
CheckResult check_result(const CheckOptions& options, const Search& search);

struct Difference {
  Checked before, now;
};
Difference difference(const DiffOptions& options);

// What a person should know beside the plans: of the network's file, and of what is asked.
std::vector<sim::Violation> notes_of(const PlanOptions& options, const planner::SearchRequest& request);

struct Simulated {
  sim::ModelGraph model;
  sim::TaskGraph graph;  // unfolded as far as what disturbs it needs
  sim::SimulationResult result;
};
Simulated simulated(const sim::ParallelPlan& plan, const SimulateOptions& options, sim::Detail detail);

struct Compared {
  sim::ParallelPlan plan;  // priced as asked
  std::vector<sim::RankTrace> traces;
  sim::ModelGraph model;
  sim::Comparison comparison;
};
Compared compared(const CompareOptions& options);

sim::HardwareProfile calibrated(const CalibrateOptions& options);

using SourcesDone = std::function<void(sim::SourcesLeftOut)>;
sim::ValidationRows validated(const ValidateOptions& options, const SourcesDone& progress = {});

}  // namespace cli
