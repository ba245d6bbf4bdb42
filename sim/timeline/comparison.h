// Simulated against measured: a join on (rank, TaskKey). Made by compare(), shown by the command line and the GUI,
// fitted by calibration. Holds no opinion on what is good.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/timeline/trace.h"

namespace sim {

struct ErrorRow {  // one task kind, or one stage; a mean over the ranks that have it
  std::string name;
  std::int64_t samples = 0;
  Seconds simulated{}, measured{};  // per step, summed over the tasks of one rank, medians over steps
  double error() const;             // (simulated - measured) / measured
};

struct Comparison {
  ErrorRow step;                 // the slowest rank's
  std::vector<ErrorRow> kinds;   // descending measured time. Spans as they are: a blocking communication's include waiting, on both sides
  std::vector<ErrorRow> stages;  // the computing of one rank of the stage, without communication
  std::vector<std::string> only_simulated, only_measured;  // keys without a partner, "rank 1: s0.c0..."
  bool ledger_equal = false;
  std::string ledger_difference;                       // the first one, in words
  double bubble_simulated = 0, bubble_measured = 0;    // idle share of the compute streams
  double overlap_simulated = 0, overlap_measured = 0;  // share of communication behind compute
  Bytes memory_simulated{}, memory_measured{};         // peak of the fullest rank
  MemoryBreakdown memory_composition{};                // of the simulated peak
  std::optional<double> expert_spread;                 // measured, of the tokens of experts; nullopt: not known
  double noise = 0;                                    // spread of measured step times: (third - first quartile) / median
};

// The first `warm_up` steps of the traces are left out (of the ledger they are not). The simulated timeline may be folded.
// Throws InputError for traces that are not of this plan's ranks, or have no step left.
struct WarmUp {
  std::int64_t steps = 1;
};
Comparison compare(const TaskGraph& graph, const ParallelPlan& plan, const Timeline& simulated, const std::vector<RankTrace>& measured,
                   WarmUp warm_up);

}  // namespace sim
