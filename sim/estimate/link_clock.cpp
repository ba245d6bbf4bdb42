#include "sim/estimate/link_clock.h"

#include <algorithm>
#include <cmath>

namespace sim {
namespace {

constexpr double kFillBytes = 2e6;        // of a message: half of the ramp to the full rate is felt from there on
constexpr double kNodeHop = 12e-6;        // of a call, for each doubling of the nodes: trees
constexpr double kRingHop = 6e-6;         // of a gather or scatter, for each node: rings alone
// Of the links, for one message to one neighbor: 25 to 28 MB in 0.53 to 0.6 ms between two A100 (profiled passes of Qi et al. 2024, table 6).
constexpr double kTransferShare = 0.21;
constexpr double kPlainTransfer = 20e9;   // that much one message gets from slower links, too
constexpr double kCubeMeshShare = 0.75;   // of the links, where no switch joins them

}  // namespace

double crossings(CollectiveKind kind, const RankGroup& group) {
  const double once = (group.ranks - 1) / group.ranks;
  return kind == CollectiveKind::AllReduce ? 2 * once : kind == CollectiveKind::SendReceive ? 1 : once;
}

LinkClock::LinkClock(const Device& device, const SoftwareStack& stack, const Machine& machine)
    : gpus_per_node_(static_cast<double>(machine.gpus_per_node)) {
  const LinkProfile& inside = device.profile.intra_node;
  const LinkProfile& between = device.profile.inter_node;
  link_rate_ = inside.bandwidth.value();
  if (machine.link_gbytes > 0 && inside.peak_bandwidth.value() > 0)
    link_rate_ *= machine.link_gbytes * 1e9 / 2 / inside.peak_bandwidth.value();
  if (machine.cube_mesh) link_rate_ *= kCubeMeshShare;
  const double sold = machine.network_gbits > 0 ? machine.network_gbits * 1e9 / 8 : between.peak_bandwidth.value();
  node_rate_ = std::max(1e8, sold * device.kernels.network_share) * stack.network_share;
  if (machine.oversubscription > 1 && machine.gpus > machine.oversubscribed_above) node_rate_ /= machine.oversubscription;
  gain_ = device.kernels.all_reduce_gain;
  start_ = device.kernels.collective_start.count();
  fill_ = device.kernels.collective_fill.count();
  hop_ = inside.latency.count();
}

double LinkClock::members_on_node(const RankGroup& group) const {
  return std::clamp(std::floor(gpus_per_node_ / group.stride), 1.0, group.ranks);
}

double LinkClock::start(CollectiveKind kind, const RankGroup& group, double payload) const {
  const double nodes = group.ranks / members_on_node(group);
  const bool ring = kind == CollectiveKind::AllGather || kind == CollectiveKind::ReduceScatter;
  const double between = ring ? std::max(kNodeHop, kRingHop * nodes) : kNodeHop * (1 + std::log2(nodes));
  return start_ + hop_ * members_on_node(group) + (nodes > 1 ? between : 0) + fill_ * payload / (payload + kFillBytes);
}

double LinkClock::collective(CollectiveKind kind, double payload, const RankGroup& group) const {
  if (group.ranks <= 1 || payload <= 0) return 0;
  const double members = members_on_node(group), crossing = crossings(kind, group) * payload;
  const bool leaves = group.ranks > members;
  const double gain = kind == CollectiveKind::AllReduce && !leaves ? gain_ : 1;
  const double inside = members > 1 ? crossing / (link_rate_ * gain) : 0;
  const double sharing = std::min(gpus_per_node_, std::max(1.0, gpus_per_node_ / members));   // groups that leave the node at once
  const double between = leaves ? crossing * sharing / node_rate_ : 0;
  return start(kind, group, payload) + std::max(inside, between);
}

double LinkClock::all_to_all(double sent, const RankGroup& group) const {
  if (group.ranks <= 1 || sent <= 0) return 0;
  const double members = members_on_node(group), away = (group.ranks - members) / std::max(1.0, group.ranks - 1);
  return start(CollectiveKind::SendReceive, group, sent) +
         std::max(sent * (1 - away) / link_rate_, sent * away * gpus_per_node_ / node_rate_);
}

double LinkClock::transfer(double payload, const RankGroup& pair) const {
  const bool leaves = pair.stride >= gpus_per_node_;
  const double inside = std::max(link_rate_ * kTransferShare, std::min(link_rate_, kPlainTransfer));
  return start_ / 2 + payload / (leaves ? std::min(inside, node_rate_ / gpus_per_node_) : inside);
}

}  // namespace sim
