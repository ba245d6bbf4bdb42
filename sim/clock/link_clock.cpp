#include "sim/clock/link_clock.h"

#include <algorithm>
#include <cmath>

namespace sim {
namespace {

constexpr double kUnstated = 1e8;  // bytes a second, of a network that a profile says nothing of: rows of one node ask for none

// Share of a token's copies that go to another place than the ones before: each place gets it once.
double met(const LinkClock::Copies& copies, double places) {
  const double neighbors = 1 + (copies.each - 1) * places / std::max(1.0, copies.in_turn);
  const double by_chance = places * (1 - std::pow(1 - 1 / places, copies.each));
  return (copies.in_turn > 0 ? std::min({neighbors, places, copies.each}) : by_chance) / copies.each;
}

// Of what a rank sends to all others: to those that are not together with it, on a node or in a pod.
double sent_away(double sent, double ranks, double together, const LinkClock::Copies& copies) {
  const double away = (ranks - together) / std::max(1.0, ranks - 1);
  return sent * away * (copies.once > 0 ? met(copies, ranks / together) : 1);
}

}  // namespace

double crossings(CollectiveKind kind, const RankGroup& group) {
  const double once = (group.ranks - 1) / group.ranks;
  if (kind == CollectiveKind::AllReduce) return 2 * once;
  const bool is_whole = kind == CollectiveKind::SendReceive || kind == CollectiveKind::RingHop || kind == CollectiveKind::Broadcast;
  return is_whole ? 1 : once;  // a broadcast goes round in small pieces
}

LinkClock::LinkClock(const Device& device, const SoftwareStack& stack, const Machine& machine)
    : behavior_(device.behavior), gpus_per_node_(static_cast<double>(machine.gpus_per_node)) {
  const LinkProfile& inside = device.profile.intra_node;
  const LinkProfile& between = device.profile.inter_node;
  link_rate_ = inside.bandwidth.value();
  if (machine.link_gbytes > 0 && inside.peak_bandwidth.value() > 0)
    link_rate_ *= machine.link_gbytes * 1e9 / 2 / inside.peak_bandwidth.value();
  for (const BytesPerSecond& rate : device.kernels.mesh_rates) mesh_rates_.push_back(rate.value());
  const BytesPerSecond stated = between.peak_bandwidth.value() > 0 ? between.peak_bandwidth : between.bandwidth;
  sold_ = machine.network_gbits > 0 ? machine.network_gbits * 1e9 / 8 : stated.value();
  node_rate_ = (sold_ > 0 ? sold_ * device.kernels.network_share : kUnstated) * stack.network_share;
  if (sold_ == 0) sold_ = kUnstated;
  for (std::size_t level = 0; level < between.pods.size(); ++level) oversubscription_[level] = between.pods[level].oversubscription;
  sums_ = between.switch_sums;
  gain_ = device.kernels.all_reduce_gain;
  start_ = device.kernels.collective_start.count();
  fill_ = device.kernels.collective_fill.count();
  hop_ = inside.latency.count();
}

double LinkClock::members_on_node(const RankGroup& group) const {
  return std::clamp(std::floor(gpus_per_node_ / group.stride), 1.0, group.ranks);
}

// Of a ring one member of a pod sends to the next one, and all groups of the pod do.
double LinkClock::hop_between_pods(double payload, const RankGroup& group) const {
  return most_of_pods(group.in_pods, group.ranks, [&](std::size_t level) {
    RankGroup pair{.ranks = 2, .stride = gpus_per_node_};
    pair.in_pods[level] = 1;
    return transfer(payload / group.in_pods[level], pair);
  });
}

double LinkClock::link_rate(double members) const {
  if (mesh_rates_.empty() || members < 2) return link_rate_;
  return mesh_rates_[std::min(mesh_rates_.size(), static_cast<std::size_t>(members) - 1) - 1];
}

double LinkClock::start(CollectiveKind kind, const RankGroup& group, double payload) const {
  const double nodes = group.ranks / members_on_node(group);
  const bool ring = kind == CollectiveKind::AllGather || kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::Broadcast;
  const double between = ring ? std::max(behavior_.node_hop, behavior_.ring_hop * nodes) : behavior_.node_hop * (1 + std::log2(nodes));
  return start_ + hop_ * members_on_node(group) + (nodes > 1 ? between : 0) + fill_ * payload / (payload + behavior_.fill_bytes);
}

// all_reduce_gain is that of eight ranks over their ring. Few ranks gain nothing: NCCL takes their ring.
double LinkClock::sum_inside(double payload, const RankGroup& group) const {
  const double members = members_on_node(group), ring = 2 * (members - 1) / members * payload / link_rate(members);
  if (gain_ <= 1) return ring / gain_;
  return std::min(ring, sum_in_switch(payload));
}

double LinkClock::sum_in_switch(double payload) const {
  constexpr double kEight = 2 * 7.0 / 8;
  return kEight * payload / (link_rate_ * gain_);
}

// What a node has to send and what comes back pass its ranks in a chain, or its switch.
double LinkClock::sum_between(double payload, const RankGroup& group) const {
  const double members = members_on_node(group);
  if (members <= 1) return 0;
  const double chain = 2 * payload / link_rate(members);
  return gain_ > 1 ? std::min(chain, sum_in_switch(payload)) : chain;
}

bool LinkClock::sums_between(CollectiveKind kind, const RankGroup& group) const {
  return sums_ && kind == CollectiveKind::AllReduce && group.ranks > members_on_node(group);
}

double LinkClock::crossing(CollectiveKind kind, double payload, const RankGroup& group) const {
  return sums_between(kind, group) ? payload : crossings(kind, group) * payload;
}

double LinkClock::collective(CollectiveKind kind, double payload, const RankGroup& group) const {
  if (group.ranks <= 1 || payload <= 0) return 0;
  const double members = members_on_node(group);
  const bool leaves = group.ranks > members, sums = sums_between(kind, group);
  const double sent = crossing(kind, payload, group);
  const double inside = sums                                           ? sum_between(payload, group)
                        : kind == CollectiveKind::AllReduce && !leaves ? sum_inside(payload, group)
                        : members > 1                                  ? sent / link_rate(members)
                                                                       : 0;
  const double sharing = std::min(gpus_per_node_, std::max(1.0, gpus_per_node_ / members));  // groups that leave the node at once
  const double between = leaves ? sent * sharing / node_rate_ : 0;
  const double pods = most_of_pods(group.in_pods, group.ranks, [&](std::size_t level) {  // once a pod, as a ring of its members
    return sent * gpus_per_node_ / (group.in_pods[level] / oversubscription_[level] * node_rate_);
  });
  return start(kind, group, payload) + std::max({inside, between, pods});
}

std::string_view LinkClock::algorithm(CollectiveKind kind, const RankGroup& group) const {
  if (kind == CollectiveKind::AllToAll || kind == CollectiveKind::SendReceive || kind == CollectiveKind::RingHop) return "direct";
  if (kind != CollectiveKind::AllReduce) return "ring";
  if (sums_between(kind, group)) return "summed in the switches";
  if (group.ranks > members_on_node(group)) return "ring in a node, tree between nodes";
  if (gain_ > 1 && sum_in_switch(1) < crossings(kind, group) / link_rate(group.ranks)) return "summed in the switch";
  return "ring";
}

double LinkClock::leaving(double sent, const RankGroup& group, const Copies& copies) const {
  return sent_away(sent, group.ranks, members_on_node(group), copies);
}

double LinkClock::leaving_pod(double sent, const RankGroup& group, const Copies& copies) const {
  return most_of_pods(group.in_pods, group.ranks, [&](std::size_t level) {
    return oversubscription_[level] * sent_away(sent, group.ranks, group.in_pods[level], copies);
  });
}

double LinkClock::inside(double sent, const RankGroup& group, const Copies& copies) const {
  const double members = members_on_node(group), others = 1 - 1 / group.ranks;
  return copies.once > 0 ? sent * met(copies, group.ranks) * (1 - 1 / members) / others : sent - leaving(sent, group, copies);
}

double LinkClock::all_to_all(double sent, const RankGroup& group, const Copies& copies) const {
  if (group.ranks <= 1 || sent <= 0) return 0;
  const double rate = copies.once > 0 ? copies.once * sold_ : node_rate_;
  return start(CollectiveKind::SendReceive, group, sent) +
         std::max(inside(sent, group, copies) / link_rate(members_on_node(group)),
                  std::max(leaving(sent, group, copies), leaving_pod(sent, group, copies)) * gpus_per_node_ / rate);
}

double LinkClock::transfer(double payload, const RankGroup& pair) const {
  const bool leaves = pair.stride >= gpus_per_node_;
  const double inside = std::max(link_rate_ * behavior_.transfer_share, std::min(link_rate_, behavior_.plain_transfer));
  const double sharing = std::max(1.0, most_of_pods(pair.in_pods, pair.ranks, [&](std::size_t level) { return oversubscription_[level]; }));
  const double shared = node_rate_ / gpus_per_node_ / sharing;
  return start_ / 2 + payload / (leaves ? std::min(inside, shared) : inside);
}

LinkClock::Copies token_copies(const ExpertForm& experts, const SoftwareStack& stack, double once) {
  if (experts.dispatch != ExpertDispatch::Dropless) return {};
  const bool in_turn = experts.forced_balance && stack.balances_in_turn;
  return {real(experts.topk), once, in_turn ? real(experts.experts) : 0};
}

}  // namespace sim
