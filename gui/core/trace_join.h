// A step of any program's trace in the words of a plan: kernels of GPUs joined with the tasks of their ranks, so that it is held against the plan as
// a run is.
//
//   tasks     |attention            |mlp             |     joined in order: a task has as many products and attentions as its operators
//   kernels    norm P  A  P  add     norm P  k  P  add     are; what lies between goes with them; collectives join in the order of their kind
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gui/core/simulated_plan.h"

namespace gui {

struct TracedKernel {
  std::string name;
  WorkKind kind{};
  sim::SimTime start{}, end{};  // from where the step begins
};
struct TracedRank {
  sim::Rank rank;
  sim::SimTime length{};              // of the step
  std::vector<TracedKernel> kernels;  // by start
};

struct UnjoinedKernels {
  std::string name;
  std::int64_t kernels = 0;
  sim::SimTime time{};  // of all ranks
};
struct TraceStep {
  std::string name;
  sim::Timeline timeline;  // a device a rank; tasks of the plan, as long as their kernels took
  SharedCore core;
  sim::SimTime length{};                  // of the longest rank
  std::vector<sim::IdleTime> idle;        // by device; what is neither computing nor communicating is the host's
  std::vector<UnjoinedKernels> unjoined;  // most time first
  std::vector<std::string> why_not;       // of each rank whose computing could not be joined; English
  sim::SimTime joined{}, all{};           // time of kernels
};
using SharedTraceStep = std::shared_ptr<const TraceStep>;

// Throws sim::InputError: a rank that the plan has not, no kernel.
SharedTraceStep joinTrace(const SimulatedPlan& plan, const std::string& name, const std::vector<TracedRank>& ranks,
                          Progress* progress = nullptr);  // from its half on

}  // namespace gui
