// Is "A is faster than B" said as sure as it is? Every two runs of one sweep and one program (sim/cost/prediction_interval.h, chance_faster), by how sure
// their order was said to be: of those said with 80 % four of five should hold. A reliability table (Murphy and Winkler 1977).
#pragma once

#include "sim/validation/score.h"

namespace sim {

void score_orders(const ValidationRows& rows, Score& result);

}  // namespace sim
