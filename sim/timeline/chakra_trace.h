// A step as Chakra execution traces (MLCommons, schema/protobuf/et_def.proto): a file a rank, PREFIX.RANK.et, of messages that each stand behind their length:
// metadata (with the attribute "producer"), then a node a task, with what it waits for on its rank, its time and, of communication, its kind, bytes and group. PREFIX.groups.json says
// which ranks a group is of, as ASTRA-sim takes them.
#pragma once

#include <string>

#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/task_graph.h"
#include "sim/timeline/dependencies.h"
#include "sim/timeline/timeline.h"

namespace sim {

struct ChakraStep {  // all of it must outlive the call
  const ParallelPlan& plan;
  const TaskGraph& graph;  // of every rank by itself: not folded
  const Timeline& timeline;
  const Dependencies& explained;
};

// Times in whole microseconds, as the schema has them; edges are rounded, never lengths. Throws InputError: a ring of context ranks, which
// Chakra has no word for; the disk's reason.
void write_chakra_traces(const ChakraStep& step, const std::string& prefix);
std::string chakra_trace_file(const std::string& prefix, Rank rank);  // where that leaves a rank's
std::string chakra_groups_file(const std::string& prefix);

}  // namespace sim
