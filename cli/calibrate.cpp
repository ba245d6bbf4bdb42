#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/documents_json.h"
#include "cli/exit_code.h"
#include "cli/learned_text.h"
#include "cli/outputs.h"
#include "cli/results.h"
#include "cli/traced_run.h"
#include "sim/calibration/calibrate.h"
#include "sim/units/counted.h"
#include "sim/units/input_error.h"
#include "sim/units/text_file.h"
#include "sim/validation/evidence.h"

namespace cli {
namespace {

sim::CalibrationRun load_run(const std::string& folder) {
  sim::CalibrationRun run{.plan = sim::load_plan(folder + "/plan.json"), .traces = sim::read_run_traces(folder), .files = {}};
  for (const sim::RankTrace& trace : run.traces) run.files.push_back(fmt::format("{}/trace.{}.json", folder, trace.rank.value()));
  return run;
}

std::vector<sim::Evidence> evidence_of(const CalibrateOptions& options) {
  std::vector<sim::Evidence> evidence;
  for (const std::string& text : options.measured)
    for (sim::Evidence& one : sim::read_evidence(text)) evidence.push_back(std::move(one));
  if (options.logs.size() != options.plans.size())
    throw sim::InputError("--log", {{"",
                                     fmt::format("{} and {} are given", sim::counted(std::ssize(options.logs), "log"),
                                                 sim::counted(std::ssize(options.plans), "plan")),
                                     "give a --plan for each --log, in the same order"}});
  for (std::size_t at = 0; at < options.logs.size(); ++at)
    evidence.push_back(sim::evidence_of_log(options.logs[at], sim::load_plan(options.plans[at])));
  if (evidence.empty() && options.traces.empty())
    throw sim::InputError("calibrate", {{"", "there is nothing measured", "give --measured, --log with --plan, --trace, or run folders"}});
  return evidence;
}

// What is read, so that nothing of it is written over.
std::vector<std::string> files_of(const CalibrateOptions& options) {
  std::vector<std::string> files = options.logs;
  files.insert(files.end(), options.plans.begin(), options.plans.end());
  for (const std::string& text : options.measured) files.push_back(text.substr(0, text.rfind('=')));
  for (const std::string& text : options.traces) files.push_back(text.substr(0, text.find('=')));
  return files;
}

int learn_from(const CalibrateOptions& options, const Console& console) {
  require_outputs({{options.output, sim::OwnFile::Profile}}, files_of(options));
  std::vector<TracedRun> traced;
  for (const std::string& text : options.traces) traced.push_back(read_traced_run(text));
  LearnedByTraces found =
      traced.empty() ? LearnedByTraces{sim::learn(evidence_of(options)), {}} : learn_by_traces(traced, evidence_of(options));
  sim::Learned& learned = found.learned;
  if (options.anonymous) learned.cluster = sim::anonymous(std::move(learned.cluster));
  sim::save_text_file(cluster_document(learned.cluster), options.output);
  console.result(learned_text(learned) + (traced.empty() ? "" : traced_text(found, traced)) + "\nThe profile: " + options.output +
                     " (meshwright plan --cluster " + options.output + ")\n",
                 [&] { return learned_document(learned); });
  return kSuccess;
}

}  // namespace

sim::HardwareProfile calibrated(const CalibrateOptions& options) {
  const sim::Cluster cluster = sim::load_cluster(options.cluster, sim::DeviceCount{1});
  std::vector<sim::CalibrationRun> runs;
  for (const std::string& folder : options.runs) runs.push_back(load_run(folder));
  return sim::calibrate(cluster.hardware, runs);
}

int run(const CalibrateOptions& options, const Console& console) {
  if (options.runs.empty()) return learn_from(options, console);
  std::vector<std::string> read = {options.cluster};
  for (const std::string& run : options.runs) read.push_back(run + "/plan.json");
  require_outputs({{options.output, sim::OwnFile::Profile}}, read);
  const sim::HardwareProfile profile = calibrated(options);
  save_hardware_profile(profile, options.output);
  console.result(
      corrections_text(profile.corrections, "measured") +
          fmt::format("\n{}, corrected by {}, is in {}\n", profile.name, sim::counted(std::ssize(profile.traces), "trace"), options.output),
      [&] { return profile_document(profile); });
  return kSuccess;
}

}  // namespace cli
