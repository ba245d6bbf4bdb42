// `compare PLAN TRACE...`: a step of another program's trace, its kernels joined with the tasks of a plan, beside the plan's simulation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/options.h"
#include "sim/plan/parallel_plan.h"
#include "sim/timeline/comparison.h"

namespace cli {

struct UnjoinedWork {  // kernels of one name that no task has
  std::string kernel;
  std::int64_t kernels = 0;
  sim::Seconds time{};  // of all ranks
};
struct TraceComparison {
  std::int64_t ranks = 0;             // that the trace has
  sim::ErrorRow step;                 // of the longest rank; measured: the trace's median step after the first
  std::vector<sim::ErrorRow> shares;  // computing, and idle by cause: means over ranks
  std::vector<sim::ErrorRow> kinds;   // of tasks, per step and rank, as far as they are joined
  double joined = 0;                  // share of the kernels' time
  std::vector<UnjoinedWork> unjoined;
  std::vector<std::string> why_not;  // of each rank whose computing could not be joined
  std::vector<std::string> notes;    // what of the traces is not there, or taken as it is not marked
};

// A step of the traces in the plan's words.
struct JoinedTrace {
  sim::Timeline timeline;  // a device a rank that the traces have; tasks of the plan, as long as their kernels took
  sim::Seconds step{};     // of the longest rank
  double share = 0;        // of the kernels' time that tasks have
  std::vector<std::string> why_not, notes;
  bool is_cut = false;  // a file ends before its events do
};
JoinedTrace join_traces(const sim::ParallelPlan& plan, const std::vector<std::string>& traces);

// Throws sim::InputError: no plan, no trace, a rank that the plan has not.
TraceComparison compare_with_trace(const sim::ParallelPlan& plan, const std::vector<std::string>& traces);
std::string trace_comparison_text(const TraceComparison& comparison, const Console& console);

}  // namespace cli
