// Plays the order of a pipeline schedule with given times of its passes. Exact for what it is told: no links, no memory.
// Used by step_estimate, and by itself with profiled pass times.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/schedule/schedule.h"
#include "sim/units/sim_time.h"

namespace sim {

struct StageTimes {               // of one chunk and one microbatch
  Seconds forward{}, backward{};  // backward: down to the input; with the weights unless they are apart
  Seconds weight{};               // gradients of the weights
};

struct PipelineRun {
  PipelineShape shape;
  std::string schedule = "1f1b";   // a row of all_schedules(), or zb-2p-sync (unknown: 1f1b); zb-2p: steps that wait for no common norm
  std::vector<StageTimes> chunks;  // by virtual stage
  Seconds transfer{};              // between neighbors
  bool transfer_blocks = false;    // the sender waits until it is through
};

const Schedule& played_schedule(const std::string& name, PipelineShape shape);
Seconds replay(const PipelineRun& run);

}  // namespace sim
