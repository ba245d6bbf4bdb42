// How evenly tokens meet experts: what the fullest rank computes.
#pragma once

#include "sim/clock/behavior.h"
#include "sim/clock/kernel_setting.h"
#include "sim/model/expert_form.h"
#include "sim/model/expert_loads.h"

namespace sim {

// Tokens on the fullest rank, in units of an even share. ranks: over which the experts are spread. A spread of loads is taken as normal around the
// even share; where nothing is said it is `behavior`'s.
double expert_load(const ExpertForm& form, const ExpertLoads& loads, std::int64_t ranks, const Behavior& behavior);

double load_spread(const ExpertForm& form, const ExpertLoads& loads, const Behavior& behavior);  // standard deviation over mean

// Rows of one expert's product, in whole tiles.
double expert_rows(double tokens, const Behavior& behavior);

}  // namespace sim
