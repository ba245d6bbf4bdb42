// The folder of a run: who may write into it, and what its metrics say.
//
//   run/  plan.json  versions.json  history.ndjson  metrics.ndjson  trace.<rank>.json  stderr.<rank>.txt  checkpoints/
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "sim/plan/parallel_plan.h"

namespace cli {

void make_run_folder(const std::string& folder);  // throws sim::InputError
// Writes plan.json, versions.json and a line of history.ndjson into the folder. Throws sim::InputError: it holds steps of another run already, or with --resume,
// no run, or one that trains something else (each field that differs is named, but for those of options.changes). Returns in what the layout differs from before.
std::vector<std::string> prepare_run_folder(const RunOptions& options, const sim::ParallelPlan& plan);

struct StepMetrics {
  std::int64_t step = 0;
  double loss = 0, tokens_per_second = 0;
};
std::optional<StepMetrics> parse_metrics(std::string_view line);           // nullopt: not (yet) a whole line
std::vector<StepMetrics> read_metrics(const std::string& folder);          // empty where there are none
double median_tokens_per_second(const std::vector<StepMetrics>& metrics);  // 0 where there are none

}  // namespace cli
