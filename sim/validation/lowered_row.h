// A described run as a plan that lower() and the engine take: so that the planner's own prices are held against the published record, too.
// Used by predict_rows. Decoders and encoders, dense or of experts, cut over data, context, tensor, pipeline and expert ranks, and convolutional networks; everything else
// has a reason why not.
#pragma once

#include <string>

#include "sim/engine/simulate.h"
#include "sim/estimate/step_estimate.h"
#include "sim/plan/parallel_plan.h"
#include "sim/validation/published_row.h"

namespace sim {

std::string why_not_lowered(const RunDescription& run);  // empty: it can be
// Throws InputError where the plan breaks a rule.
ParallelPlan lowered_plan(const RunDescription& run, const Setting& setting, const RowWords& words = {});
struct LoweredRow {
  ParallelPlan plan;
  SimulationResult result;
  Seconds step() const;  // what was simulated, or the host's work on the images of a step, where that is longer
};
LoweredRow simulated_row(const RunDescription& run, const Setting& setting, const RowWords& words = {});
Seconds simulated_step(const RunDescription& run, const Setting& setting);

// What the counter that is asked for shows of the rank that is asked for, and what the fullest device must hold.
struct CountedMemory {
  Bytes shown{}, needed{};
};
CountedMemory counted_memory(const LoweredRow& row, const MemoryQuestion& asked);

}  // namespace sim
