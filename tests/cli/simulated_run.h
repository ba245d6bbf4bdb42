// A run folder without a worker: the simulation's own timeline, written as the traces that ranks would have recorded.
#pragma once

#include <string>

#include "sim/plan/parallel_plan.h"

namespace cli::test {

sim::ParallelPlan simulated_plan();  // tiny GPT-2, two data ranks, on a profile of GPUs

struct Slowdown {
  double factor = 1.0;  // of every forward task
};
// Returns the folder, which is made anew.
std::string write_simulated_run(const sim::ParallelPlan& plan, const std::string& name, Slowdown slowdown = {});

}  // namespace cli::test
