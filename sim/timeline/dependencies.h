// What the tasks of a step waited for, whether the step was simulated or measured: the graph joined with the times of its timeline.
//
// Tasks of one rendezvous are one activity: it begins when the last of them can. On in-order devices a blocking communication's span begins
// where it is issued; its activity begins where the work does.
//
//   span      |.... waits ....|[==== works ====]|          of a blocking communication
//   activity                   begin            end        begin - ready: nothing was in the way; zero in a simulation
#pragma once

#include <cstdint>
#include <vector>

#include "sim/timeline/timeline.h"
#include "sim/units/at.h"

namespace sim {

struct Activity {
  SimTime ready{};                 // the last of what it waits for has ended
  SimTime begin{}, end{};          // of its work
  TaskId task = TaskId::none();    // the member that came last; without a predecessor the first one
  TaskId before = TaskId::none();  // what that member waited for last: a task on the same stream, or one with an edge to it
  SimTime work() const { return end - begin; }
  SimTime delay() const { return begin - ready; }
};

struct Dependencies {
  std::vector<std::int64_t> span_of;      // by TaskId: position in the timeline; -1: not there
  std::vector<std::int32_t> activity_of;  // by TaskId
  std::vector<Activity> activities;
  std::vector<std::int32_t> order;  // of activities: each behind all that it waits for
  TaskGraph::Graph edges;           // between activities
  SimTime end{};                    // of the step
  const Activity& of(TaskId task) const { return sim::at(activities, activity_of[task.position()]); }
};

// Devices of the graph and of the timeline must be numbered alike: both folded, or both by rank. O(tasks log tasks + edges).
Dependencies dependencies_of(const TaskGraph& graph, const Timeline& timeline, StreamOrder order);

}  // namespace sim
