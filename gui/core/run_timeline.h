// What a run has done so far as one timeline: a row of its steps, and the tasks of those steps whose traces are on disk (the worker writes
// them with every checkpoint). Traced steps stand as the clock of rank 0 had them, the others end to end.
#pragma once

#include <memory>
#include <vector>

#include "gui/core/metrics.h"
#include "gui/core/timeline_core.h"
#include "sim/timeline/trace.h"

namespace gui {

struct RunTimeline {
  std::vector<sim::Span> tasks;
  std::vector<std::int64_t> steps;  // their numbers; as spans they are numbered behind the tasks
  SharedCore core;
  std::string nameOf(std::uint32_t span) const;
};
using SharedRunTimeline = std::shared_ptr<const RunTimeline>;

// Of the run folder: those ranks that have written one; a half-written or foreign one is left out.
std::vector<sim::RankTrace> tracesSoFar(const std::string& run_folder);

// Traces of steps that the metrics do not tell are left out.
SharedRunTimeline runTimeline(const std::vector<StepMetrics>& metrics, const std::vector<sim::RankTrace>& traces);

}  // namespace gui
