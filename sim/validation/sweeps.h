// Does the fastest predicted plan of a sweep run fastest?
#pragma once

#include "sim/validation/score.h"

namespace sim {

void score_sweeps(const ValidationRows& rows, Score& result);

}  // namespace sim
