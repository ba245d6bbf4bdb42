// The fastest layouts of a network that need not be lowered: estimated in closed form, with interval and memory, the same bytes from any number of
// threads. Recomputation is the least that fits. Used by `meshwright estimate`.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "planner/layout_space.h"
#include "sim/estimate/memory_estimate.h"

namespace planner {

struct EstimatedLayout {
  sim::RunDescription run;
  sim::StepEstimate step;
  sim::MemoryEstimate memory;
  double mfu = 0;
};

struct LayoutResult {
  std::vector<EstimatedLayout> ranked;  // fastest first
  std::size_t candidates = 0, over_memory = 0;
  std::optional<EstimatedLayout> smallest;  // where none fits: the one that takes least
};

LayoutResult rank_layouts(const LayoutRequest& request);  // throws InputError: layout_violations

}  // namespace planner
