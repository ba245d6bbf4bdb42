#include <sys/utsname.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "cli/launch.h"
#include "cli/restart.h"
#include "cli/run_folder.h"
#include "sim/plan/resume_changes.h"
#include "sim/units/input_error.h"
#include "sim/units/json_reader.h"

namespace cli {
namespace {

using sim::Json;

std::string date() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

Json versions(const RunOptions& options) {
  utsname system{};
  uname(&system);
  return {{"format", "meshwright.versions/1"},
          {"meshwright", "0.1"},
          {"compiler", __VERSION__},
          {"kernel", system.release},
          {"machine", system.machine},
          {"date", date()},
          {"data", std::filesystem::absolute(options.data).string()},
          {"worker", worker_path()}};
}

bool has_steps(const std::string& folder) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(folder + "/metrics.ndjson", error);
  return !error && bytes > 0;
}

// A line a start: from where, with what tokens, and what is another than before.
void write_history(const RunOptions& options, const sim::ParallelPlan& plan, const sim::PlanDifferences& differences) {
  const std::string path = options.output + "/history.ndjson";
  const Json line = {{"date", date()},
                     {"from_step", options.resume ? restart_point(options.output).from : 0},
                     {"steps", options.steps},
                     {"ranks", plan.mesh.ranks()},
                     {"data", std::filesystem::absolute(options.data).string()},
                     {"changes", differences.training},
                     {"layout", differences.layout}};
  std::ofstream file(path, std::ios::app);
  file << line.dump() << '\n';
  if (!file.flush()) throw sim::InputError(path, {{"", "cannot be written", "free space on the disk"}});
}

bool is_asked_for(const std::string& difference, const RunOptions& options) {
  const std::string name(sim::changeable_setting_of(difference));
  return std::ranges::any_of(options.changes, [&](const std::string& change) { return !name.empty() && change.starts_with(name + "="); });
}

std::string remedy_of(const std::string& difference) {
  const std::string_view name = sim::changeable_setting_of(difference);
  const std::string same = "resume with the plan.json of the run folder";
  return name.empty() ? same : same + ", or ask for it:  --change " + std::string(name) + "=...";
}

// What a run may not change on its way, unless it is asked to: what is trained.
std::vector<std::string> continue_run(const RunOptions& options, const sim::ParallelPlan& plan) {
  const std::string& folder = options.output;
  const sim::PlanDifferences found = sim::differences(sim::load_plan(folder + "/plan.json"), plan);
  std::vector<sim::Violation> violations;
  for (const std::string& difference : found.training)
    if (!is_asked_for(difference, options))
      violations.push_back(
          {difference.substr(0, difference.find(':')), difference.substr(difference.find(':') + 2), remedy_of(difference)});
  if (!violations.empty()) throw sim::InputError(folder + "/plan.json", violations);
  write_history(options, plan, found);
  if (found.layout.empty() && found.training.empty()) return {};
  if (!found.layout.empty())
    for (const auto& entry : std::filesystem::directory_iterator(folder))  // of ranks that there may be no more
      if (entry.path().filename().string().starts_with("trace.")) std::filesystem::remove(entry.path());
  sim::save_plan(plan, folder + "/plan.json");
  return found.layout;
}

}  // namespace

void make_run_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw sim::InputError(folder, {{"", "cannot be made: " + error.message(), "name a folder that can be written"}});
}

std::vector<std::string> prepare_run_folder(const RunOptions& options, const sim::ParallelPlan& plan) {
  const auto holds = [&](const char* name) { return std::filesystem::exists(options.output + name); };
  if (options.resume && !holds("/plan.json"))
    throw sim::InputError(options.output, {{"", "holds no run to resume", "name the folder of an earlier run, or leave --resume out"}});
  if (options.resume) return continue_run(options, plan);
  const bool is_saved = restart_point(options.output).from > 0;
  if (is_saved || has_steps(options.output))  // a run that ended before its first step left nothing to lose
    throw sim::InputError(options.output, {{"", "holds a run already, which would be lost",
                                            is_saved ? "continue it with --resume, or name another folder"
                                                     : "name another folder: it has no checkpoint to continue from"}});
  sim::save_json_file(versions(options), options.output + "/versions.json");
  sim::save_plan(plan, options.output + "/plan.json");
  write_history(options, plan, {});
  return {};
}

std::optional<StepMetrics> parse_metrics(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer() || !json.contains("loss")) return std::nullopt;
  const auto number = [&](const char* key) {
    return json.contains(key) && json[key].is_number() ? json[key].get<double>() : 0;
  };  // null: not finite
  return StepMetrics{.step = json["step"].get<std::int64_t>(), .loss = number("loss"), .tokens_per_second = number("tokens_per_second")};
}

std::vector<StepMetrics> read_metrics(const std::string& folder) {
  std::vector<StepMetrics> all;
  std::ifstream file(folder + "/metrics.ndjson");
  for (std::string line; std::getline(file, line);)
    if (const std::optional<StepMetrics> step = parse_metrics(line)) all.push_back(*step);
  return all;
}

double median_tokens_per_second(const std::vector<StepMetrics>& metrics) {
  std::vector<double> rates;
  for (const StepMetrics& step : metrics) rates.push_back(step.tokens_per_second);
  if (rates.empty()) return 0;
  const auto middle = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
  std::nth_element(rates.begin(), middle, rates.end());
  return *middle;
}

}  // namespace cli
