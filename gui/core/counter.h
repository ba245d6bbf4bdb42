// A number over time, as a row of the timeline: it holds from a moment to the next one. Made of a simulated step: how busy, memory, what the links
// carry. Used by the timeline view.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gui/core/time_axis.h"
#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/task_graph.h"
#include "sim/timeline/timeline.h"

namespace gui {

struct Counter {
  std::string name;                // "memory"
  std::vector<std::int64_t> time;  // picoseconds, ascending
  std::vector<double> value;       // from then on
  double most = 0;
  std::string (*text)(double value) = nullptr;

  double highest(TimeRange range) const;  // 0 before the first moment
};
struct CounterRow {
  sim::DeviceId device;
  std::shared_ptr<const Counter> counter;  // ranks that do the same share one
};
struct SimulatedStep {
  const sim::ModelGraph& model;
  const sim::ParallelPlan& plan;
  const sim::TaskGraph& graph;
  const sim::Timeline& timeline;
  const std::vector<std::int64_t>& span_of;  // by task: its span; -1: none (sim::Dependencies)
};
std::vector<CounterRow> countersOf(const SimulatedStep& step);  // by device

}  // namespace gui
