// How long a step of an order takes where passes are as long as they are: each stage performs its actions one after another, a pass waits for the one
// that it reads, and what crosses stages takes its time beside them. One chunk a stage, backward split in two.
//
//   stage 0   F0 F1 .. B0 W0 B1 W1      stage s waits for stage s - 1 in forwards, and for stage s + 1 in gradients of inputs
//   stage 1   .. F0 B0 F1 B1 W0 W1
//
// Without what is beside passes: plans are priced by the simulator.
#pragma once

#include <optional>
#include <vector>

#include "sim/schedule/schedule.h"
#include "sim/units/sim_time.h"

namespace sim {

struct PassTimes {  // of a microbatch on one stage
  SimTime forward{}, backward{}, weight{};
  SimTime of(ActionKind kind) const { return kind == ActionKind::Forward ? forward : kind == ActionKind::Backward ? backward : weight; }
};
struct PipelineTimes {
  std::vector<PassTimes> stages;
  SimTime transfer{};  // from a stage to the next, each way
};

// Barrier: a step begins when the last stage has ended the one before. Cross: a stage begins its next step when it has ended its own (post-validation).
enum class StepEnd : std::uint8_t { Barrier, Cross };

using StageOrders = std::vector<std::vector<StageAction>>;

// Of one step; of crossing ones the mean of two, behind two others. None: stages wait for each other in a circle.
std::optional<SimTime> step_time_of(const StageOrders& orders, const PipelineTimes& times, StepEnd end);

// The slowest stage's passes alone.
SimTime work_of(const PipelineTimes& times, PipelineShape shape);

}  // namespace sim
