// What people have measured, in the forms that they have it in -> evidence.
//
//   plan.json=7.42s,61.2GiB          one plan: the time of a step, or its tokens a second ("41000 tokens/s"), and the peak memory of a device
//   runs.csv                         the same, a line each: plan,7.42 s,61.2 GiB; a first line of words is a heading
//   rows.json                        published rows (profiles/published): each with a step time
#pragma once

#include <string>
#include <vector>

#include "sim/calibration/learn.h"

namespace sim {

// All violations at once, as InputError.
std::vector<Evidence> read_evidence(const std::string& text);
Evidence evidence_of_log(const std::string& log, ParallelPlan plan);

}  // namespace sim
