#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/documents_json.h"
#include "cli/exit_code.h"
#include "cli/outputs.h"
#include "cli/results.h"
#include "cli/table.h"
#include "sim/calibration/calibrate.h"

namespace cli {
namespace {

sim::CalibrationRun load_run(const std::string& folder) {
  sim::CalibrationRun run{.plan = sim::load_plan(folder + "/plan.json"), .traces = sim::read_run_traces(folder), .files = {}};
  for (const sim::RankTrace& trace : run.traces) run.files.push_back(fmt::format("{}/trace.{}.json", folder, trace.rank.value()));
  return run;
}

std::string corrections_table(const sim::HardwareProfile& profile) {
  std::vector<std::vector<std::string>> rows{{"task kind", "measured / priced", "samples"}};
  for (const sim::Correction& correction : profile.corrections)
    rows.push_back({correction.kind, fmt::format("{:.3f}", correction.factor), std::to_string(correction.samples)});
  return table_text(rows);
}

}  // namespace

sim::HardwareProfile calibrated(const CalibrateOptions& options) {
  const sim::Cluster cluster = sim::load_cluster(options.cluster, sim::DeviceCount{1});
  std::vector<sim::CalibrationRun> runs;
  for (const std::string& folder : options.runs) runs.push_back(load_run(folder));
  return sim::calibrate(cluster.hardware, runs);
}

int run(const CalibrateOptions& options, const Console& console) {
  std::vector<std::string> read = {options.cluster};
  for (const std::string& run : options.runs) read.push_back(run + "/plan.json");
  require_outputs({{options.output}}, read);
  const sim::HardwareProfile profile = calibrated(options);
  save_hardware_profile(profile, options.output);
  console.result(corrections_table(profile) +
                     fmt::format("\n{}, corrected by {} traces, is in {}\n", profile.name, profile.traces.size(), options.output),
                 [&] { return profile_document(profile); });
  return kSuccess;
}

}  // namespace cli
