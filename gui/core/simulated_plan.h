// A plan together with all that its pictures need: graph, figures, timeline. Made on a worker thread, then shared and only read.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gui/core/cluster_load.h"
#include "gui/core/counter.h"
#include "gui/core/flows.h"
#include "gui/core/timeline_core.h"
#include "sim/engine/simulate.h"
#include "sim/plan/parallel_plan.h"
#include "sim/timeline/bubble.h"
#include "sim/timeline/critical_path.h"

namespace gui {

struct SimulatedPlan {
  sim::ParallelPlan plan;
  sim::ModelGraph model;
  sim::TaskGraph graph;
  sim::SimulationResult result;  // with its timeline
  sim::CriticalPath critical;
  std::vector<sim::IdleTime> idle;  // by device
  std::vector<Flow> flows;
  std::vector<Counter> counters;
  ClusterLoad load;
  SharedCore core;  // the timeline as rows, the critical path on top
};
using SharedPlan = std::shared_ptr<const SimulatedPlan>;

// Throws sim::InputError with every rule that the plan breaks. Null: cancelled, which is looked at between its parts.
SharedPlan simulatePlan(const sim::ParallelPlan& plan, sim::Fold fold = sim::Fold::Symmetric, const std::atomic<bool>* cancelled = nullptr);

// "data 4 x tensor 2 x pipeline 2, 1f1b, 8 microbatches of 1, zero 0, recompute none"
std::string summaryOf(const sim::ParallelPlan& plan);

}  // namespace gui
