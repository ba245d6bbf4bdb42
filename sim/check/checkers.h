// Judges that share no code with lower() and the engine: they re-derive the rules from the plan alone.
// Run by every simulation test and by `simulate --check`; return what is broken, in words (empty: nothing).
#pragma once

#include <string>
#include <vector>

#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/task_graph.h"
#include "sim/timeline/timeline.h"

namespace sim {

// The graph against the plan: each (microbatch, layer) forward before backward exactly once on its owner; sends match receives; reduced and
// gathered bytes equal the parameters'; no cycle (a cycle is named); every collective on all members of its group in the same order.
std::vector<std::string> check_graph(const ModelGraph& model, const ParallelPlan& plan, const TaskGraph& graph);

// The timeline against the graph: every task once; no overlap on a stream; dependencies kept; rendezvous simultaneous;
// memory never negative and back at its resident value.
// Where steps cross: with what a step takes, if each is like the one before, and memory is at the end what it was at the beginning.
std::vector<std::string> check_timeline(const TaskGraph& graph, const Timeline& timeline, SimTime period = {});

}  // namespace sim
