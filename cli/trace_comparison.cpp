#include "cli/trace_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "cli/report.h"
#include "cli/table.h"
#include "gui/core/comparison_errors.h"
#include "gui/import/imported_trace.h"
#include "gui/import/trace_kernels.h"
#include "sim/units/at.h"
#include "sim/units/counted.h"
#include "sim/units/input_error.h"
#include "sim/units/unit_text.h"

namespace cli {
namespace {

constexpr std::size_t kMostNames = 10;
constexpr double kLeastShare = 1e-6;  // of a step, to be a row

// A folder stands for the traces in it, in the order of their names.
std::vector<std::string> files_of(const std::vector<std::string>& traces) {
  std::vector<std::string> files;
  for (const std::string& trace : traces) {
    std::error_code error;
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(trace, error))
      if (entry.path().extension() == ".json" || entry.path().extension() == ".gz") found.push_back(entry.path().string());
    if (error)
      found.push_back(trace);  // no folder
    else if (found.empty())
      throw sim::InputError(trace,
                            {{"", "holds no trace: no file ends in .json or .json.gz", "give what torch.profiler wrote, one file a rank"}});
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

std::vector<sim::ErrorRow> shares_of(const gui::ComparedSteps& steps) {
  const sim::IdleTime planned = steps.left.idle(), traced = steps.right.idle();
  std::vector<sim::ErrorRow> rows{{"computing", 1, sim::to_seconds(planned.computing), sim::to_seconds(traced.computing)}};
  for (std::size_t at = 0; at < sim::kNumIdleCauses; ++at) {
    const auto cause = static_cast<sim::IdleCause>(at);
    rows.push_back(
        {std::string(sim::at(sim::kIdleCauseNames, cause)), 1, sim::to_seconds(planned.of(cause)), sim::to_seconds(traced.of(cause))});
  }
  const double least = kLeastShare * std::max(steps.left.length(), steps.right.length()).count();
  std::erase_if(rows, [&](const sim::ErrorRow& row) { return std::max(row.simulated, row.measured).count() < least; });
  return rows;
}

std::vector<std::string> cells(const sim::ErrorRow& row) {
  const bool both = row.simulated.count() > 0 && row.measured.count() > 0;
  return {row.name, sim::to_text(row.simulated), sim::to_text(row.measured), both ? fmt::format("{:+.1f} %", 100 * row.error()) : ""};
}

std::string unjoined_text(const TraceComparison& comparison, const Console& console) {
  if (comparison.unjoined.empty()) return "\nEvery kernel of the trace is a task's.\n";
  std::vector<std::vector<std::string>> rows{{"kernels", "time", "name"}};
  for (std::size_t at = 0; at < std::min(kMostNames, comparison.unjoined.size()); ++at) {
    const UnjoinedWork& one = comparison.unjoined[at];
    rows.push_back({std::to_string(one.kernels), sim::to_text(one.time), one.kernel});
  }
  std::string text = fmt::format("\n{}: {} of the kernels' time\n{}", console.heading("Joined with no task"),
                                 sim::percent(1 - comparison.joined), table_text(rows));
  if (comparison.unjoined.size() > kMostNames)
    text += fmt::format("and {}: --json has all\n", sim::counted(std::ssize(comparison.unjoined) - std::ssize(rows) + 1, "more name"));
  return text;
}

struct ReadTrace {
  gui::SharedTraceStep step;
  std::vector<std::string> notes;
  bool is_cut = false;
};

void require_distinct_ranks(const gui::ImportedTrace& trace) {
  std::map<std::int64_t, std::string> files;
  for (const gui::TraceFile& file : trace.files)
    if (const auto [known, is_new] = files.try_emplace(file.rank, file.path); file.rank >= 0 && !is_new)
      throw sim::InputError(file.path, {{"", fmt::format("is of rank {}, as {} is", file.rank, known->second), "give one file a rank"}});
}

ReadTrace read_trace(const gui::SharedPlan& simulated, const std::vector<std::string>& traces) {
  gui::Progress progress;
  const gui::SharedTrace trace = gui::importTrace(files_of(traces), progress);
  require_distinct_ranks(*trace);
  ReadTrace read{.step = gui::joinTrace(*simulated, "trace", gui::kernelsOfStep(*trace)), .notes = {}};
  for (const gui::TraceFile& file : trace->files) {
    read.is_cut |= file.cut;
    if (file.cut) read.notes.push_back(file.path + " ends before its events do: what is behind is missing here");
    if (file.malformed > 0)
      read.notes.push_back(fmt::format("{}: {} left out", file.path, sim::counted(file.malformed, "malformed event")));
  }
  const auto marks_step = [](const std::string& name) { return name.starts_with("ProfilerStep#"); };
  if (std::ranges::none_of(trace->names, marks_step))
    read.notes.push_back("No step is marked (ProfilerStep#): all of the trace is taken as one. Call step() of torch.profiler behind each.");
  if (read.step->all.count() == 0) read.notes.push_back("No kernel of the trace has a length.");
  return read;
}
double share_of(const gui::TraceStep& step) {
  return step.all.count() > 0 ? static_cast<double>(step.joined.count()) / static_cast<double>(step.all.count()) : 0;
}

}  // namespace

JoinedTrace join_traces(const sim::ParallelPlan& plan, const std::vector<std::string>& traces) {
  const ReadTrace read = read_trace(gui::simulatePlan(plan), traces);
  return {.timeline = read.step->timeline,
          .step = sim::to_seconds(read.step->length),
          .share = share_of(*read.step),
          .why_not = read.step->why_not,
          .notes = read.notes,
          .is_cut = read.is_cut};
}

TraceComparison compare_with_trace(const sim::ParallelPlan& plan, const std::vector<std::string>& traces) {
  const gui::SharedPlan simulated = gui::simulatePlan(plan);
  const ReadTrace read = read_trace(simulated, traces);
  const gui::SharedTraceStep& step = read.step;
  const gui::ComparedSteps steps(gui::simulatedSide(simulated), gui::tracedSide(step, simulated));
  TraceComparison found;
  found.ranks = std::ssize(step->timeline.devices);
  found.step = {"step", 1, steps.left.length(), steps.right.length()};
  found.shares = shares_of(steps);
  found.why_not = step->why_not;
  found.notes = read.notes;
  for (const gui::ErrorGroup& group : gui::errorGroups(steps))
    if (group.of == gui::ErrorGroup::Of::Kind) found.kinds.push_back(group.row);
  found.joined = share_of(*step);
  for (const gui::UnjoinedKernels& one : step->unjoined) found.unjoined.push_back({one.name, one.kernels, sim::to_seconds(one.time)});
  return found;
}

std::string trace_comparison_text(const TraceComparison& comparison, const Console& console) {
  std::vector<std::vector<std::string>> rows{{"per step and rank", "simulated", "traced", "error"}, cells(comparison.step)};
  for (const sim::ErrorRow& row : comparison.shares) rows.push_back(cells(row));
  std::string alone;
  sim::Seconds without{};
  for (const sim::ErrorRow& row : comparison.kinds) {
    if (row.measured.count() > 0) rows.push_back(cells(row));
    if (row.measured.count() > 0 || row.simulated.count() == 0) continue;
    alone += (alone.empty() ? "" : ", ") + row.name;
    without += row.simulated;
  }
  std::string text = fmt::format("{}: {} of the trace\n{}", console.heading("Simulated against a trace"),
                                 sim::counted(comparison.ranks, "rank"), table_text(rows));
  if (!alone.empty()) text += "\n" + wrapped(fmt::format("Only simulated, {} a rank: {}", sim::to_text(without), alone));
  for (const std::vector<std::string>& some : {comparison.why_not, comparison.notes})
    for (const std::string& one : some) text += "\n" + wrapped(one);
  return text + unjoined_text(comparison, console);
}

}  // namespace cli
