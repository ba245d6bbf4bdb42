#include "sim/cluster/cluster.h"

#include <algorithm>

namespace sim {
namespace {

const double kUsualContextGib = SoftwareStack{}.context_gib;
// Of the sold memory; the driver has the rest. nvidia-smi on H100: 81,559 MiB; PyTorch on A100 of 40 GB: 39.39 GiB.
constexpr double kOfAProcess = 0.985;

// A program on a GPU, whose driver and libraries take their part.
bool has_driver(const Cluster& cluster) { return cluster.hardware.kernels && !cluster.software.name.empty(); }

}  // namespace

std::int32_t Cluster::devices_per_node() const { return std::min(devices, hardware.devices_per_node); }
std::int32_t Cluster::nodes() const { return (devices + hardware.devices_per_node - 1) / hardware.devices_per_node; }
std::int32_t Cluster::devices_per_host() const {
  return std::min(devices, hardware.devices_per_host > 0 ? hardware.devices_per_host : hardware.devices_per_node);
}
std::int32_t Cluster::hosts() const { return (devices + devices_per_host() - 1) / devices_per_host(); }
NodeIndex Cluster::node_of(Rank rank) const { return NodeIndex(rank.value() / hardware.devices_per_node); }

void deal_out(HardwareProfile& hardware, std::int32_t devices) {
  const std::int32_t domain = hardware.devices_per_node, host = hardware.devices_per_host;
  if (host == 0 || host == domain || devices <= domain) return;
  const std::int32_t hosts = (devices + host - 1) / host, most = domain / host, domains = (hosts + most - 1) / most;
  hardware.devices_per_node = (hosts + domains - 1) / domains * host;
  const double kept = static_cast<double>(hardware.devices_per_node) / domain;
  hardware.inter_node.bandwidth = hardware.inter_node.bandwidth * kept;
  hardware.inter_node.peak_bandwidth = hardware.inter_node.peak_bandwidth * kept;
  hardware.inter_node.lanes = std::max(1, static_cast<std::int32_t>(hardware.inter_node.lanes * kept));
}

const SoftwareStack& habits_of(const Cluster& cluster) { return cluster.software.own_memory ? cluster.software : worker_software(); }

bool is_worker_on_gpu(const Cluster& cluster) { return !cluster.software.own_memory && cluster.hardware.kind == DeviceKind::Gpu; }

Bytes process_memory(const Cluster& cluster) {
  return has_driver(cluster) ? scaled(cluster.hardware.memory, kOfAProcess) : cluster.hardware.memory;
}

Bytes usable_memory(const Cluster& cluster) {
  const Bytes memory = process_memory(cluster);
  if (!has_driver(cluster)) return memory;
  const double context = std::max(cluster.software.context_gib, kUsualContextGib);  // there, though the program does not count it
  return std::max(Bytes(0), memory - Bytes(static_cast<std::int64_t>(context * (1 << 30))));
}

}  // namespace sim
