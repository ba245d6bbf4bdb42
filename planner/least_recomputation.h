// The least that each pipeline stage computes again: so many of the first blocks of its parts that it fits, and no more.
#pragma once

#include <vector>

#include "sim/cost/memory_interval.h"
#include "sim/plan/parallel_plan.h"

namespace planner {

// Of a plan that computes all blocks again as a whole and fits so: a number for each stage, and the largest of them for all, which more programs can say.
// Empty where every stage needs all of its blocks. Simulates the plan as often as a number of blocks can be halved, and a few times more.
std::vector<sim::ParallelPlan> with_least_recomputed(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const sim::Risk& risk);

}  // namespace planner
