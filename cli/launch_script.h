// How a run is started where `meshwright run` cannot start it itself: as a script that a person reads, changes and hands to a scheduler.
#pragma once

#include <string>

#include "cli/launch.h"
#include "sim/plan/parallel_plan.h"

namespace cli {

// launcher: "mpirun" (this machine), "srun" (a Slurm job), "torchrun" (environment variables, one process a rank; joined by NCCL alone).
// Throws sim::InputError for another name, and for a torchrun of CPU ranks.
std::string launch_script(const std::string& launcher, const LaunchRequest& request, const sim::ParallelPlan& plan);

}  // namespace cli
