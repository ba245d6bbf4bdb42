// The graph of several steps, one behind the other: of plans whose steps cross. Where all ranks meet once a step, one step behind the end of another.
//
//   behind the meeting of step 0 |= update =|
//   step 1                            |~ gather ~|= F B =|~~ sums ~~| meeting |= update =|
#pragma once

#include <vector>

#include "sim/task_graph/task_graph.h"

namespace sim {

struct Steps {
  std::int32_t count = 1;
};

// Task t of step k is task k * step.tasks().size() + t. Streams run on from step to step; else only edges_between_steps() order them.
TaskGraph repeated(const TaskGraph& step, Steps steps);

// Whether all ranks agree on the gradients' norm before anything is done that the next step waits for: then nothing else is under way, and each step passes
// from one such meeting to the next as the one before did.
bool steps_meet(const TaskGraph& step);

struct MetStep {
  TaskGraph graph;
  std::vector<std::int32_t> front;  // which tasks of a step stand in front of the first one; task t of the step is task front.size() + t
};
MetStep behind_meeting(const TaskGraph& step);  // steps_meet() must hold
TaskId meeting_of(const TaskGraph& step, DeviceId device);

}  // namespace sim
