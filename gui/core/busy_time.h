// What each device of a timeline does in a range: computing, communicating, both at once, neither. Devices that do neither are left out: hosts.
#pragma once

#include <string>
#include <vector>

#include "gui/core/timeline_core.h"

namespace gui {

struct BusyTime {
  std::string device;
  sim::SimTime computing{}, communicating{}, both{}, idle{};  // computing and communicating hold both
};
std::vector<BusyTime> busyTimes(const TimelineCore& core, TimeRange range);  // from top to bottom

}  // namespace gui
