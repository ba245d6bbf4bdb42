// Steps that cross, played one behind the other until they repeat. A plan whose steps end at a barrier is played once.
//
//   step 0   |=== F B ====|~~ sums ~~|
//   step 1                 |=== F B ====|~~ sums ~~|         begins while sums of step 0 are under way
//   step 2                                 |=== F B ====|    like step 1, as step 3 will be: a cycle of one
//
// The time of a step is that of the cycle, shared by its steps. Exact: three cycles are equal to the picosecond in all starts and ends, or twice as many
// steps are played. Where all ranks meet before the weights are stepped (sim/task_graph/repeat.h), a step is played once, behind the end of another: from
// one meeting to the next. A stage that is faster than the others may get ahead of them for hundreds of steps: after 40 (or eight million tasks) without a
// cycle a step is what the slowest took of each of the later half.
#pragma once

#include <vector>

#include "sim/engine/engine.h"
#include "sim/units/at.h"

namespace sim {

struct PlayedStep {
  EngineRun run;            // of one step of the cycle, from its first start; its step_time and devices are means over the cycle
  SimTime from{}, until{};  // where it begins on the memory tracker's clock, and the step behind it
  std::int32_t cycle = 1;   // steps; 0: none was found
};

// `memory`: as before the first step; holds the samples and peaks of all that was played when this returns.
PlayedStep play(const TaskGraph& graph, const std::vector<PricedTask>& priced, const LinkSharing& links, StreamOrder order,
                MemoryTracker& memory);

// All that play() played to find the cycle, and where that is: [first, first + length) of the steps.
struct PlayedSteps {
  TaskGraph graph;
  EngineRun run;
  std::vector<SimTime> begins;        // of each step
  std::vector<std::int32_t> front{};  // tasks of a step that stand in front of the first one
  std::int32_t tasks = 0;             // of a step
  std::int32_t first = 0, length = 1;
  bool repeats = false;
  SimTime step_time{};
  std::int32_t in_step(std::int32_t task) const {  // which task of a step it is
    const auto behind = task - static_cast<std::int32_t>(front.size());
    return behind < 0 ? at(front, task) : behind % tasks;
  }
  SimTime from() const { return at(begins, first); }
  SimTime until() const { return at(begins, first + length); }
};
PlayedSteps play_steps(const TaskGraph& graph, const std::vector<PricedTask>& priced, const LinkSharing& links, StreamOrder order,
                       MemoryTracker& memory);

// The samples between two moments, and what was alive at both: from zero on.
std::vector<MemorySample> samples_within(const std::vector<MemorySample>& samples, SimTime from, SimTime until);

}  // namespace sim
