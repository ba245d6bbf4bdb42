// How much of each link's capacity a step takes, over the whole step: 0.2 is a link that is full a fifth of the time, or a fifth full
// always. Folded devices speak for their class: exact where its ranks stand alike on their nodes.
#pragma once

#include <vector>

#include "sim/units/index.h"

namespace gui {

struct SimulatedPlan;

struct ClusterLoad {
  std::vector<double> port;    // by rank
  std::vector<double> uplink;  // by node
};
ClusterLoad clusterLoad(const SimulatedPlan& simulated);

sim::DeviceId deviceOf(const SimulatedPlan& simulated, sim::Rank rank);  // the rank's, or its class's

}  // namespace gui
