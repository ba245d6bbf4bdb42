// Edges between stages that are not neighbours: where a plan asks for them (direct_source), what an encoder puts out goes straight from the stage of its
// last block to each stage that reads it, and the gradient straight back. Messages between the stages behind the encoder then hold rows of the target alone.
//
//   stage     0 --all--> 1 --all--> 2 --target--> 3 --target--> 4        stage 1 ends the encoder; 2 is its neighbour, 3 and 4 read the source
//                        |----------source--------^             ^
//                        |----------source----------------------|
#pragma once

#include <vector>

#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/task.h"

namespace sim {

struct SourceEdges {
  StageIndex from{};                // holds the encoder's last block; none: the source goes along
  std::vector<StageIndex> readers;  // behind its neighbour, ascending
  Bytes rows{};                     // of the source, of one rank and microbatch

  // The source's rows do not cross from that stage to the next, nor their gradient back.
  bool leave_out(StageIndex front) const { return from.exists() && front > from; }
  bool reach(StageIndex stage) const;
};

SourceEdges source_edges(const ParallelPlan& plan);

// A transfer's number is its reader's stage: no message to a neighbour has one.
constexpr bool is_of_source(const TaskKey& key) { return key.phase != Phase::Step && key.sequence > 0; }

}  // namespace sim
