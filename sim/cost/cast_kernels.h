// Copies beside an operator's kernels that change the type of what it reads or puts out.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/clock/operator_clock.h"
#include "sim/cost/kernel_work.h"
#include "sim/model/segment.h"
#include "sim/plan/parallel_plan.h"

namespace sim {

bool is_autocast(const ParallelPlan& plan);  // weights are fp32, and the stream is: what their operators take is priced with them
// Of `numbers` that a norm in front of a half of a block, or a sum behind it, puts out, where the stream is wider than the block; none: it is not.
std::vector<KernelCall> beside_stream(const Operator& op, std::int64_t numbers, const ParallelPlan& plan, Pass pass);
// Of what any norm puts out, forward or backward, where its weights are wider than the block.
std::vector<KernelCall> beside_norm(const Operator& op, std::int64_t numbers, const ParallelPlan& plan);
double width_of_scores(const ParallelPlan& plan);   // of experts, in units of fp32, in which they are where nothing else is said
std::vector<KernelCall> unpacking(double weights);  // of weights in 4 bit, by operators

}  // namespace sim
