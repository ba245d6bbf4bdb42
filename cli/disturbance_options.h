// --slow-rank, --slow-link, --lost-link of simulate as values.
#pragma once

#include "cli/options.h"
#include "sim/engine/disturbance.h"

namespace cli {

// Throws InputError: a rank or link that is not there, a factor out of range, a lost link that was the only way.
sim::Disturbances disturbances_of(const SimulateOptions& options, const sim::ParallelPlan& plan);

}  // namespace cli
