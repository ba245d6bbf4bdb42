// Starts meshwright-worker under mpirun, one process a rank, and waits for it.
// The worker is a program beside ours: nothing of it is linked here.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/process.h"

namespace cli {

struct LaunchRequest {
  std::int32_t ranks = 1;
  std::vector<std::string> arguments;        // of the worker
  std::string error_file;                    // mpirun's words, and the workers' until they have their own file
  bool on_gpus = false;                      // ranks bind themselves, to the cores beside their GPU: none is bound to one core
  std::function<bool()> heeds_signals = {};  // whether each rank ends at a good point if it is asked to; empty: there is none
};

// mpirun with everything stated that its defaults would leave to chance: binding, threads, root.
std::vector<std::string> mpirun_command(const LaunchRequest& request);  // throws sim::InputError where the worker is not built

// Runs to the end; calls `watch` ten times a second, and ends the ranks when it returns false. A first Ctrl-C asks the ranks to stop at the next good
// point, if they heed signals yet; it ends them if not, as a second one does.
int launch(const LaunchRequest& request, const std::function<bool()>& watch);  // the exit status of mpirun

// The worker alone, to its end; what it says goes where our words go. Its exit status.
int run_worker(const std::vector<std::string>& arguments);

std::string worker_path();     // beside our own program
std::string require_worker();  // the same; throws sim::InputError where it is not built

}  // namespace cli
