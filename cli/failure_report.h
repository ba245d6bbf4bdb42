// After a rank failed: which rank, where it was, and what was said last.
#pragma once

#include <cstdint>
#include <string>

#include "cli/console.h"
#include "sim/units/index.h"

namespace cli {

struct FailedRun {
  std::string folder;
  std::int32_t ranks = 1;
  int status = 0;  // exit status of mpirun
};

// First the cause (rank and signal or exit code, as mpirun saw it), then a line a rank from its heartbeat (phase and task),
// then the last words of each rank, then how to go on: from the newest checkpoint, if there is one.
std::string failure_report(const FailedRun& run);

// The worker refused its input (exit code 30): its own sentence, which names file, field and remedy.
std::string refusal(const FailedRun& run);

// A worker that was asked alone has said why on stderr: the exit code, which is a documented one, and with --json a document that points there.
int refused_by_worker(const std::string& file, int status, const Console& console);

// Which rank ended the job and how, from mpirun's words: "rank 1 was ended by signal 9 (Killed)"; no rank where mpirun names none.
struct Cause {
  sim::Rank rank;
  std::string text;
};
Cause cause_of(const std::string& mpirun_words);

}  // namespace cli
