#include "sim/cluster/whose_speed.h"

namespace sim {

WhoseSpeed whose_speed(const Cluster& cluster) {
  return {.program = cluster.software.name.empty() ? "meshwright" : cluster.software.name, .part = cluster.hardware.name};
}

std::string to_text(const WhoseSpeed& speed) { return speed.program + " on " + speed.part; }

}  // namespace sim
