// A described run as a plan that lower() and the engine take: so that the planner's own prices are held against the published record, too.
// Used by predict_rows. Decoders, dense or of experts, cut over data, context, tensor, pipeline and expert ranks; everything else has a reason why not.
#pragma once

#include <string>

#include "sim/estimate/step_estimate.h"
#include "sim/plan/parallel_plan.h"

namespace sim {

std::string why_not_lowered(const RunDescription& run);  // empty: it can be
// Throws InputError where the plan breaks a rule.
ParallelPlan lowered_plan(const RunDescription& run, const Setting& setting);
Seconds simulated_step(const RunDescription& run, const Setting& setting);

}  // namespace sim
