// A plan with traces of whatever program performed it -> what calibration takes: how long each of its tasks was, and its step.
#pragma once

#include <string>
#include <vector>

#include "sim/calibration/calibrate.h"
#include "sim/calibration/learn.h"

namespace cli {

struct TracedRun {
  sim::CalibrationRun run;
  sim::Evidence step;         // of the longest rank
  double joined = 0;          // share of the kernels' time that tasks have
  bool has_all_ranks = true;  // else exchanges are left out: who waited for whom is in the traces of the others
};

// "plan.json=rank0.json.gz,rank1.json.gz", or "plan.json=traces/". Throws sim::InputError: no such files, a rank that the plan has not, no kernel joined.
TracedRun read_traced_run(const std::string& text);

// Prices of the runs' hardware meet what was traced, task kind by task kind; steps of these and of `others` settle the rest.
struct LearnedByTraces {
  sim::Learned learned;
  std::vector<sim::Correction> corrections;
};
LearnedByTraces learn_by_traces(const std::vector<TracedRun>& runs, std::vector<sim::Evidence> others);
std::string traced_text(const LearnedByTraces& found, const std::vector<TracedRun>& runs);

}  // namespace cli
