#include "sim/cluster/device_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/units/at.h"

namespace sim {
namespace {

// What large products reach; a profile without kernels says it as an efficiency.
double product_rate(const HardwareProfile& profile) {
  const double peak = std::max(sim::at(profile.peak, Precision::Bf16), sim::at(profile.peak, Precision::Fp16)).value();
  const double widest = peak > 0 ? peak : sim::at(profile.peak, Precision::Fp32).value();
  return widest * (profile.kernels ? profile.kernels->matrix_share : profile.matrix_efficiency);
}

// A missing link joins nothing: then there is none between them.
void take_least(LinkProfile& link, const LinkProfile& other) {
  if (link.type.empty() || other.type.empty()) {
    link = {};
    return;
  }
  if (other.bandwidth < link.bandwidth) link.type = other.type;
  link.latency = std::max(link.latency, other.latency);
  link.bandwidth = std::min(link.bandwidth, other.bandwidth);
  link.peak_bandwidth = std::min(link.peak_bandwidth, other.peak_bandwidth);
  link.lanes = std::min(link.lanes, other.lanes);
  link.switch_sums = link.switch_sums && other.switch_sums;
}

Bytes least_known(Bytes one, Bytes other) { return one == Bytes(0) || other == Bytes(0) ? Bytes(0) : std::min(one, other); }

void take_least(HardwareProfile& least, const HardwareProfile& other) {
  least.memory = std::min(least.memory, other.memory);
  least.node_memory = least_known(least.node_memory, other.node_memory);
  least.memory_bandwidth = std::min(least.memory_bandwidth, other.memory_bandwidth);
  for (std::size_t at = 0; at < kNumPrecisions; ++at) least.peak[at] = std::min(least.peak[at], other.peak[at]);
  if (!least.kernels || !other.kernels) {
    least.kernels.reset();
  } else {
    least.kernels->fp8_peak = std::min(least.kernels->fp8_peak, other.kernels->fp8_peak);
    least.kernels->fp4_peak = std::min(least.kernels->fp4_peak, other.kernels->fp4_peak);
    least.kernels->network_share = std::min(least.kernels->network_share, other.kernels->network_share);
  }
  least.kernel_overhead = std::max(least.kernel_overhead, other.kernel_overhead);
  least.handle_workspace = std::max(least.handle_workspace, other.handle_workspace);
  take_least(least.intra_node, other.intra_node);
  take_least(least.inter_node, other.inter_node);
}

}  // namespace

std::optional<std::string> why_not_together(const std::vector<DeviceGroup>& groups) {
  const HardwareProfile& first = groups.front().hardware;
  for (const DeviceGroup& group : groups) {
    const HardwareProfile& one = group.hardware;
    if (one.kind != first.kind) return fmt::format("{} and {} are devices of two kinds", first.name, one.name);
    if (one.devices_per_node != first.devices_per_node || one.devices_per_host != first.devices_per_host)
      return fmt::format("{} has {} devices a node and {} has {}", first.name, first.devices_per_node, one.name, one.devices_per_node);
    if (group.devices % one.devices_per_node != 0)
      return fmt::format("{} devices of {} are no whole nodes of {}", group.devices, one.name, one.devices_per_node);
  }
  return std::nullopt;
}

const DeviceGroup& group_of(const std::vector<DeviceGroup>& groups, Rank rank) {
  std::int32_t behind = 0;
  for (const DeviceGroup& group : groups)
    if (rank.value() < (behind += group.devices)) return group;
  return groups.back();
}

HardwareProfile least_of(const std::vector<DeviceGroup>& groups) {
  const auto slower = [](const DeviceGroup& a, const DeviceGroup& b) { return product_rate(a.hardware) < product_rate(b.hardware); };
  const DeviceGroup& slowest = *std::min_element(groups.begin(), groups.end(), slower);
  HardwareProfile least = slowest.hardware;
  std::string names, parts;
  for (const DeviceGroup& group : groups) {
    names += (names.empty() ? "" : " beside ") + group.hardware.name;
    parts += fmt::format("{}{} x {}", parts.empty() ? "" : ", ", group.devices, group.hardware.name);
    take_least(least, group.hardware);
  }
  if (least.kernels) {  // as a profile with kernels is read
    least.inter_node.bandwidth = least.inter_node.peak_bandwidth * least.kernels->network_share;
    least.inter_node.latency = least.intra_node.latency;
  }
  if (groups.size() == 1) return least;
  least.name = names;
  least.source = fmt::format("Groups: {}. The least of each number; kernels of {}, the slowest: equal shares of a batch wait for it. {}",
                             parts, slowest.hardware.name, slowest.hardware.source);
  least.sources.clear();
  return least;
}

}  // namespace sim
