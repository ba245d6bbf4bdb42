// What a map of the ranks can be colored by. A metric is a row of the table.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gui/core/cluster_load.h"

namespace gui {

struct RankMetric {
  std::string_view name;  // English; the page translates it
  double (*value)(const SimulatedPlan& simulated, const ClusterLoad& load, sim::Rank rank);
  std::string (*text)(double value);
};
std::span<const RankMetric> allRankMetrics();
std::vector<double> valuesOf(const RankMetric& metric, const SimulatedPlan& simulated, const ClusterLoad& load);  // by rank

}  // namespace gui
