// Copies of weights and gradients that programs make beside the exchanges of ZeRO-3's units, by kernels of their own. What travels is not among them.
#pragma once

#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/task.h"

namespace sim {

struct UnitCopies {     // bytes of a weight, read and written
  double gathered = 0;  // behind the gather of the pass, if it has one
  double reduced = 0;   // from its gradient to the sum
};
UnitCopies unit_copies(const ParallelPlan& plan, Phase phase);

}  // namespace sim
