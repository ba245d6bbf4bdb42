#include "sim/cluster/cluster.h"

#include <algorithm>

namespace sim {
namespace {

const double kUsualContextGib = SoftwareStack{}.context_gib;

}  // namespace

std::int32_t Cluster::devices_per_node() const { return std::min(devices, hardware.devices_per_node); }
std::int32_t Cluster::nodes() const { return (devices + hardware.devices_per_node - 1) / hardware.devices_per_node; }
NodeIndex Cluster::node_of(Rank rank) const { return NodeIndex(rank.value() / hardware.devices_per_node); }

const SoftwareStack& habits_of(const Cluster& cluster) { return cluster.software.own_memory ? cluster.software : worker_software(); }

Bytes usable_memory(const Cluster& cluster) {
  const Bytes memory = cluster.hardware.memory;
  if (!cluster.hardware.kernels || cluster.software.name.empty()) return memory;
  const double held = std::max(cluster.software.context_gib, kUsualContextGib);  // there, though the program does not count it
  return std::max(Bytes(0), memory - Bytes(static_cast<std::int64_t>(held * (1 << 30))));
}

}  // namespace sim
