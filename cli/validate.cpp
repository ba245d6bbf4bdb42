#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/outputs.h"
#include "cli/progress.h"
#include "cli/results.h"
#include "sim/recipe/network.h"
#include "sim/units/at.h"
#include "sim/units/input_error.h"
#include "sim/units/text_file.h"
#include "sim/validation/few_shot.h"
#include "sim/validation/fit.h"

namespace cli {
namespace {

// Learned from a few rows of each source; the others are predicted.
sim::ValidationRows given_a_few(const ValidateOptions& options, const SourcesDone& progress) {
  const auto read = options.leave_out_each ? sim::ReadProfiles::Unfitted : sim::ReadProfiles::AsFitted;
  const sim::FewShot asked{.given = sim::count_of(options.given), .leave_out_each = options.leave_out_each};
  return sim::few_shot(sim::load_measured_runs(options.rows, read), asked, progress);
}

// Rows of one kind fail alike: one line, under the name of the first.
void say_errors(const std::vector<sim::PredictedRow>& rows, const Console& console) {
  std::vector<sim::Violation> errors;
  std::map<std::string, std::string> first;
  for (const sim::PredictedRow& row : rows) {
    if (row.error.empty()) continue;
    const bool is_named = row.error.starts_with(row.id + ": ");
    errors.push_back({"", is_named ? row.error.substr(row.id.size() + 2) : row.error, ""});
    first.emplace(errors.back().problem, row.id);
  }
  for (const sim::Violation& error : sim::grouped(errors)) {
    const auto same = std::ranges::find_if(first, [&](const auto& one) { return error.problem.starts_with(one.first); });
    console.say("error: " + (same == first.end() ? "" : same->second + ": ") + error.problem);
  }
}

// Each row is priced at the speed of its own program and part: few are named, of many the predictions say it row by row.
void say_speeds(const std::vector<sim::PredictedRow>& rows, const Console& console) {
  constexpr std::size_t kMostNamed = 6;
  std::map<std::string, std::int64_t> counts;
  for (const sim::PredictedRow& row : rows)
    if (!row.speed.part.empty()) ++counts[sim::to_text(row.speed)];
  if (counts.size() > kMostNamed)
    return console.say("priced at " + std::to_string(counts.size()) + " speeds: the predictions of --out have that of each row (speed_of)");
  for (const auto& [speed, times] : counts)
    console.say("priced at the speed of " + speed + ": " + std::to_string(times) + (times == 1 ? " row" : " rows"));
}

bool reads_alike(const std::string& path, const sim::ParallelPlan& plan) {
  try {
    return sim::load_plan(path).model == plan.model;
  } catch (const sim::InputError&) {
    return false;
  }
}

// Rows name no family: the plan's network as the one says it that loses least. What a plan file says beside config.json stays. None: some part has no words.
std::optional<sim::ParallelPlan> said_by_a_family(const sim::ParallelPlan& plan) {
  sim::ModelConfig network = plan.model;
  network.mtp_layers = 0;
  network.mtp_apart = false;
  network.adapters.reset();
  network.frozen = {};
  const sim::SaidNetwork said = sim::as_a_family_says_it(network);
  const auto is_mask = [](const std::string& lost) { return lost.find("pdrop") != std::string::npos; };
  if (!said.lost.structure.empty() || !said.lost.words.empty() || std::ranges::any_of(said.lost.others, is_mask)) return std::nullopt;
  sim::ParallelPlan written = plan;
  written.model = said.model;
  written.model.mtp_layers = plan.model.mtp_layers;
  written.model.mtp_apart = plan.model.mtp_apart;
  written.model.adapters = plan.model.adapters;
  written.model.frozen = plan.model.frozen;
  return written;
}

// A file each, named after its row. A plan file says a network in the words of a published family: one that has no such words is not written.
sim::ReadPlan plan_writer(const std::string& folder) {
  if (folder.empty()) return {};
  std::filesystem::create_directories(folder);
  return [folder](const std::string& id, const sim::ParallelPlan& plan) {
    std::string name = id;
    std::ranges::replace(name, '/', '_');
    const std::string path = folder + "/" + name + ".json";
    const std::optional<sim::ParallelPlan> said = said_by_a_family(plan);
    if (!said) return;
    sim::require_own(path, sim::OwnFile::Plan);
    sim::save_plan(*said, path);
    if (!reads_alike(path, *said)) std::filesystem::remove(path);
  };
}

}  // namespace

sim::ValidationRows validated(const ValidateOptions& options, const SourcesDone& progress) {
  if (options.given > 0) return given_a_few(options, progress);
  if (options.leave_out_each) return sim::leave_out_each(sim::load_measured_runs(options.rows), progress);
  if (!options.fit.empty()) {
    const sim::MeasuredRuns measured = sim::load_measured_runs(options.rows);
    sim::save_profiles(sim::fit(measured.runs, measured.profiles), options.fit);
  }
  sim::ValidationRows rows = sim::predict_file(options.rows, plan_writer(options.plans));
  if (rows.predictions.empty())
    throw sim::InputError(options.rows, {{"", "holds no rows", "give a file like profiles/published/rows.json"}});
  return rows;
}

int run(const ValidateOptions& options, const Console& console) {
  require_outputs({{options.output, sim::OwnFile::Predictions}}, {options.rows});
  Progress progress("sources left out");
  const sim::ValidationRows rows =
      validated(options, [&](sim::SourcesLeftOut sources) { progress.update({.done = sources.done, .all = sources.all, .details = {}}); });
  if (!options.output.empty()) sim::save_text_file(sim::predictions_document(rows.predictions), options.output);
  const sim::Score score = sim::score(rows);
  say_errors(rows.predictions, console);
  say_speeds(rows.predictions, console);
  console.result(sim::score_text(score), [&] { return sim::score_document(score); });
  return score.errors > 0 ? kInputError : kSuccess;
}

}  // namespace cli
