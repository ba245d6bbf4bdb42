// Who hands what to whom: the edges of the graph between devices, as pairs of spans; arrows of the timeline.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/timeline/dependencies.h"

namespace gui {

struct Flow {
  std::uint32_t from = 0, to = 0;  // positions in the timeline
  bool operator==(const Flow&) const = default;
};
std::vector<Flow> flowsOf(const sim::TaskGraph& graph, const sim::Dependencies& step);  // by task that hands over

}  // namespace gui
