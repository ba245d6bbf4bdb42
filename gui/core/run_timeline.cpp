#include "gui/core/run_timeline.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

namespace gui {
namespace {

using StepStarts = std::map<std::int64_t, sim::SimTime>;  // by step

// Where the first rank began each step, on the clock of rank 0.
StepStarts clockStarts(const std::vector<sim::RankTrace>& traces) {
  StepStarts starts;
  for (const sim::RankTrace& trace : traces)
    for (const sim::MeasuredStep& step : trace.steps) {
      const sim::SimTime start = step.start + trace.clock_offset;
      const auto [known, is_new] = starts.try_emplace(step.step, start);
      if (!is_new) known->second = std::min(known->second, start);
    }
  return starts;
}

sim::Timeline tasksOf(const std::vector<sim::RankTrace>& traces, const StepStarts& clock, const StepStarts& begins) {
  sim::Timeline timeline;
  for (const sim::RankTrace& trace : traces) {
    const sim::DeviceId device(static_cast<std::int32_t>(timeline.devices.size()));
    timeline.devices.push_back({trace.rank, trace.mesh.coordinate(trace.rank).stage, 1});
    for (const sim::MeasuredStep& step : trace.steps) {
      const auto begin = begins.find(step.step);
      if (begin == begins.end()) continue;
      const sim::SimTime shift = begin->second + step.start + trace.clock_offset - clock.at(step.step);
      for (const sim::Span& span : step.spans)
        timeline.spans.push_back({device, span.stream, span.key, span.start + shift, span.end + shift});
    }
  }
  return timeline;
}

}  // namespace

std::vector<sim::RankTrace> tracesSoFar(const std::string& run_folder) {
  std::vector<sim::RankTrace> traces;
  for (sim::Rank rank(0);; rank = sim::Rank(rank.value() + 1)) {
    const std::string path = run_folder + '/' + sim::trace_file_name(rank);
    if (!std::filesystem::exists(path)) return traces;
    try {
      traces.push_back(sim::read_rank_trace(path));
    } catch (const sim::InputError&) {
      continue;
    }
  }
}

std::string RunTimeline::nameOf(std::uint32_t span) const {
  return span < tasks.size() ? shortName(tasks[span].key) : std::to_string(steps[span - tasks.size()]);
}

SharedRunTimeline runTimeline(const std::vector<StepMetrics>& metrics, const std::vector<sim::RankTrace>& traces) {
  auto run = std::make_shared<RunTimeline>();
  SliceRow steps{.device = "steps", .opens_device = true};
  const StepStarts clock = clockStarts(traces);
  StepStarts begins;
  sim::SimTime at{};
  std::optional<sim::SimTime> shift;  // from the clock to here
  for (const StepMetrics& step : metrics) {
    if (const auto traced = clock.find(step.step); traced != clock.end()) {
      if (!shift) shift = at - traced->second;
      at = std::max(at, *shift + traced->second);
    }
    begins[step.step] = at;
    steps.slices->start.push_back(at.count());
    at += sim::to_sim_time(step.time);
    steps.slices->end.push_back(at.count());
    steps.slices->kind.push_back(WorkKind::Host);
    run->steps.push_back(step.step);
  }
  const sim::Timeline timeline = tasksOf(traces, clock, begins);
  const TimelineCore tasks(timeline);
  run->tasks = timeline.spans;
  for (std::size_t step = 0; step < run->steps.size(); ++step)
    steps.slices->span.push_back(static_cast<std::uint32_t>(run->tasks.size() + step));
  std::vector<SliceRow> rows{std::move(steps)};
  rows.insert(rows.end(), tasks.rows().begin(), tasks.rows().end());
  run->core = std::make_shared<TimelineCore>(std::move(rows));
  return run;
}

}  // namespace gui
