// Looped breadth-first order: v chunks a stage; all microbatches forward through a chunk before the next chunk, backward in the same way from the last
// chunk to the first. A chunk's weights are used by all microbatches in a row: sharded ones are gathered once a pass, gradients are reduced once a chunk.
// Lamy-Poirier, "Breadth-First Pipeline Parallelism", MLSys 2023.
// Step (v max(m,p) + min(m,p) - 1)(t_f + t_b), so a bubble of (p-1)/(vm+p-1) where m >= p; all microbatches of all chunks are alive on every stage.
// Backwards ascend here, so that gradients add up as in the other orders; PyTorch's ScheduleLoopedBFS has them descend.
//
//   stage 0   F0.0 F1.0 F0.1 F1.1           B0.1 B1.1 B0.0 B1.0      p = 2, m = 2, v = 2, equal costs
//   stage 1        F0.0 F1.0 F0.1 F1.1 B0.1 B1.1 B0.0 B1.0
#pragma once

#include "sim/schedule/schedule.h"

namespace sim {
extern const Schedule kLoopedBfsSchedule;
}
