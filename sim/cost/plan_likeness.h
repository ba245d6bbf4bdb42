// A plan as sim/cluster/likeness.h compares it.
#pragma once

#include "sim/cluster/likeness.h"
#include "sim/plan/parallel_plan.h"

namespace sim {

Likeness likeness_of(const ParallelPlan& plan);

}  // namespace sim
