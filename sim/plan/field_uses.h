// Where a field of a plan's layout says something: a plan is the same step whatever stands in the others.
#pragma once

#include "sim/plan/plan_fields.h"

namespace sim {

// False: its value changes no time and no memory of this plan, as the rest of it is. The window hides such knobs, comparisons leave them out, and a search asks
// no other value of them.
bool has_use(const PlanField& field, const ParallelPlan& plan);

}  // namespace sim
