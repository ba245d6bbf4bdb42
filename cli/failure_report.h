// After a rank failed: which rank, where it was, and what was said last. Used by run.
#pragma once

#include <cstdint>
#include <string>

namespace cli {

struct FailedRun {
  std::string folder;
  std::int32_t ranks = 1;
  int status = 0;              // exit status of mpirun
};

// First the cause (rank and signal or exit code, as mpirun saw it), then a line a rank from its heartbeat (phase and task),
// then the last words of each rank, then how to go on.
std::string failure_report(const FailedRun& run);

// "process rank 1 ... exited on signal 9" -> "rank 1 was ended by signal 9 (Killed)"; empty when mpirun names none.
std::string cause_text(const std::string& mpirun_words);

}  // namespace cli
