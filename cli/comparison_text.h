// What `compare` prints: errors beside the noise floor they must be read against.
#pragma once

#include <string>

#include "cli/console.h"
#include "sim/plan/parallel_plan.h"
#include "sim/timeline/comparison.h"

namespace cli {

std::string comparison_text(const sim::Comparison& comparison, const Console& console);
// How unevenly tokens met experts, beside what the plan says of it; empty where nothing is known.
std::string experts_text(const sim::Comparison& comparison, const sim::ParallelPlan& plan);

}  // namespace cli
