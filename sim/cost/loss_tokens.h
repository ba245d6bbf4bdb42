// How many of a microbatch's tokens the head sees: all; of images one each; or in a program that picks out what masked language modelling predicts,
// those alone.
#pragma once

#include "sim/plan/parallel_plan.h"

namespace sim {

std::int64_t tokens_with_loss(const ParallelPlan& plan);  // of one rank

}  // namespace sim
