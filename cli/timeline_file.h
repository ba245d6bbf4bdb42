// A simulated step with all that a trace file shows of it. Used by the subcommands that write timelines.
#pragma once

#include <string>

#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/task_graph.h"
#include "sim/timeline/trace.h"

namespace cli {

// `timeline` must outlive it. Devices of graph and timeline are numbered alike.
sim::NamedTimeline simulated_timeline(const std::string& name, const sim::ModelGraph& model, const sim::ParallelPlan& plan,
                                      const sim::TaskGraph& graph, const sim::Timeline& timeline);

}  // namespace cli
