// A number over time, as a row of the timeline: it holds from a moment to the next one. Made of a simulated step: how busy, memory, what the links
// carry.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gui/core/time_axis.h"
#include "sim/cost/port_load.h"

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
std::vector<CounterRow> countersOf(const sim::SimulatedStep& step);  // by device

}  // namespace gui
