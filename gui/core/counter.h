// A number over time, as a row of the timeline: it holds from a moment to the next one. Made of a simulated step: memory, what the links
// carry. Used by the timeline view.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gui/core/simulated_plan.h"
#include "gui/core/time_axis.h"

namespace gui {

struct Counter {
  sim::DeviceId device;
  std::string name;                // "memory"
  std::vector<std::int64_t> time;  // picoseconds, ascending
  std::vector<double> value;       // from then on
  double most = 0;
  std::string (*text)(double value) = nullptr;

  double highest(TimeRange range) const;  // 0 before the first moment
};
std::vector<Counter> countersOf(const SimulatedPlan& simulated);  // by device

}  // namespace gui
