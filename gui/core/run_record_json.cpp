#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "gui/core/metrics.h"
#include "gui/core/run_record.h"
#include "gui/core/simulated_plan.h"
#include "sim/units/json_reader.h"

namespace gui {
namespace {

constexpr const char* kHistoryFormat = "meshwright.runs/1";
constexpr std::size_t kMostRuns = 1000;

struct MedianStep {
  double time = 0, tokens_per_second = 0;
};

// The first steps warm up, as in a comparison; where there are no others they count.
MedianStep medianOf(const std::vector<StepMetrics>& steps) {
  constexpr std::size_t kWarmUp = 2;
  std::vector<MedianStep> all;
  for (const StepMetrics& step : steps) all.push_back({step.time.count(), step.tokens_per_second});
  if (all.size() > 2 * kWarmUp) all.erase(all.begin(), all.begin() + kWarmUp);
  if (all.empty()) return {};
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end(), [](const MedianStep& a, const MedianStep& b) { return a.time < b.time; });
  return *middle;
}

RunRecord recordFrom(const sim::JsonReader& json) {
  RunRecord run{.folder = json.text("folder"),
                .plan = json.text("plan"),
                .started = json.integer("started"),
                .steps = json.integer("steps"),
                .loss = json.number("loss"),
                .tokens_per_second = json.number("tokens_per_second")};
  if (json.has("error")) run.error = json.number("error");
  return run;
}

}  // namespace

RunRecord recordOf(const std::string& run_folder) {
  const std::string path = run_folder + "/plan.json";
  const sim::ParallelPlan plan = sim::load_plan(path);
  MetricsFollower metrics(run_folder);
  do metrics.look();
  while (metrics.hasMore());
  RunRecord run{.folder = std::filesystem::absolute(run_folder).lexically_normal().string(), .plan = summaryOf(plan)};
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) run.started = status.st_mtim.tv_sec;
  if (metrics.steps().empty()) return run;
  const MedianStep median = medianOf(metrics.steps());
  run.steps = metrics.steps().back().step;
  run.loss = metrics.steps().back().loss;
  run.tokens_per_second = median.tokens_per_second;
  if (plan.predictions && median.time > 0) run.error = plan.predictions->step_time.count() / median.time - 1;
  return run;
}

void note(std::vector<RunRecord>& history, RunRecord run) {
  std::erase_if(history, [&](const RunRecord& known) { return known.folder == run.folder; });
  const auto older = std::find_if(history.begin(), history.end(), [&](const RunRecord& known) { return known.started <= run.started; });
  history.insert(older, std::move(run));
  if (history.size() > kMostRuns) history.resize(kMostRuns);
}

void saveHistory(const std::vector<RunRecord>& history, const std::string& path) {
  sim::Json runs = sim::Json::array();
  for (const RunRecord& run : history) {
    runs.push_back({{"folder", run.folder},
                    {"plan", run.plan},
                    {"started", run.started},
                    {"steps", run.steps},
                    {"loss", run.loss},
                    {"tokens_per_second", run.tokens_per_second}});
    if (run.error) runs.back()["error"] = *run.error;
  }
  sim::save_json_file({{"format", kHistoryFormat}, {"runs", runs}}, path);
}

std::vector<RunRecord> loadHistory(const std::string& path) {
  if (!std::filesystem::exists(path)) return {};
  const sim::Json json = sim::load_json_file(path);
  const sim::JsonReader reader(json, path);
  if (reader.text("format") != kHistoryFormat)
    reader.violate("format", "is none that this version reads", std::string("open a file of format ") + kHistoryFormat);
  std::vector<RunRecord> history;
  for (const sim::JsonReader& run : reader.children("runs")) history.push_back(recordFrom(run));
  reader.finish();
  return history;
}

}  // namespace gui
