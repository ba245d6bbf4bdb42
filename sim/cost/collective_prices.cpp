#include "sim/cost/collective_prices.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/collective/pieces.h"
#include "sim/cost/modelled_kernels.h"

namespace sim {
namespace {

std::optional<Kernel> measured_as(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::AllReduce: return Kernel::AllReduce;
    case CollectiveKind::ReduceScatter: return Kernel::ReduceScatter;
    case CollectiveKind::AllGather: return Kernel::AllGather;
    case CollectiveKind::SendReceive: return Kernel::SendReceive;
    case CollectiveKind::AllToAll:
    case CollectiveKind::RingHop:
    case CollectiveKind::Broadcast: break;
  }
  return std::nullopt;
}

Seconds transfer(double bytes, BytesPerSecond rate) { return rate.value() > 0 ? Seconds(bytes / rate.value()) : Seconds{}; }

// Bytes of one group into one node in one phase, per byte that a rank sends. To a neighbor (one message) only the group's ring edge
// crosses; to everyone, each of the node's members receives from each of those outside.
double crossing(const CollectivePhase& phase, const GroupPlacement& group) {
  if (!group.spans_nodes()) return 0.0;
  if (phase.messages <= 1) return 1.0;
  return static_cast<double>(group.on_node) * static_cast<double>(group.ranks - group.on_node) / static_cast<double>(group.ranks - 1);
}

// The same into its pod, a rank's share of what may leave that at once: all groups of a pod do.
double crossing_pods(const CollectivePhase& phase, const GroupPlacement& group, const std::vector<PodLevel>& pods) {
  return most_of_pods(group.in_pods, group.ranks, [&](std::size_t level) {
    const std::int32_t in_pod = group.in_pods[level];
    const double share = phase.messages <= 1 ? 1 / real(in_pod) : real(group.ranks - in_pod) / real(group.ranks - 1);
    return pods[level].oversubscription * share;
  });
}

RatioCurve::Coordinates payload_coordinate(Bytes payload) {
  return {std::log(static_cast<double>(std::max<std::int64_t>(payload.value(), 1))), 0.0, 0.0};
}

constexpr double kNextNode = 1e9;  // ranks between the members of a pair: on two nodes, whatever their size

struct ClockBytes {
  double payload, crossing;
};
struct ClockGroup {
  RankGroup ranks;
  double on_node;
  LinkClock::Copies copies;
};

// Of a ring's hops one of the members on a node leaves it: the others wait for that one.
double seconds(const LinkClock& clock, CollectiveKind kind, const ClockBytes& bytes, const ClockGroup& group) {
  switch (kind) {
    case CollectiveKind::SendReceive: return clock.transfer(bytes.payload, group.ranks);
    case CollectiveKind::AllToAll: return clock.all_to_all(bytes.crossing, group.ranks, group.copies);
    case CollectiveKind::RingHop:
      return std::max({clock.transfer(bytes.payload, {2, 1}),
                       group.on_node < group.ranks.ranks ? clock.transfer(bytes.payload / group.on_node, {2, kNextNode}) : 0,
                       clock.hop_between_pods(bytes.payload, group.ranks)});
    default: return clock.collective(kind, bytes.payload, group.ranks);
  }
}

CollectivePrice limited(CollectivePrice price) {
  price.port_time = std::min(price.port_time, price.time);
  price.uplink_time = std::min(price.uplink_time, price.time);
  return price;
}

}  // namespace

CollectiveKind kind_of(Operation operation) {
  switch (operation) {
    case Operation::AllReduce: return CollectiveKind::AllReduce;
    case Operation::ReduceScatter: return CollectiveKind::ReduceScatter;
    case Operation::AllGather: return CollectiveKind::AllGather;
    case Operation::AllToAll: return CollectiveKind::AllToAll;
    case Operation::RingHop: return CollectiveKind::RingHop;
    case Operation::Broadcast: return CollectiveKind::Broadcast;
    default: return CollectiveKind::SendReceive;
  }
}

CollectivePrices::CollectivePrices(const Cluster& cluster, const KernelPrices& kernels, Precision precision, BusyRanks busy)
    : profile_(cluster.hardware), kernels_(kernels), precision_(precision), busy_(busy) {
  Machine machine;
  machine.gpus_per_node = profile_.devices_per_node;
  if (is_modelled(profile_)) clock_.emplace(Device(profile_), cluster.software, machine);
}

const LinkProfile& CollectivePrices::link_of(const GroupPlacement& group) const {
  return group.spans_nodes() ? profile_.inter_node : profile_.intra_node;
}

CollectivePrice CollectivePrices::by_algorithm(const CollectiveAlgorithm& algorithm, const CollectiveShape& shape,
                                               const GroupPlacement& group) const {
  CollectivePrice price;
  for (const PhaseRun& run : algorithm.phases(shape)) {
    const double sent = static_cast<double>(run.phase.bytes_sent.value());
    const Seconds port = transfer(sent, profile_.intra_node.bandwidth);
    const Seconds uplink = transfer(sent * crossing(run.phase, group), profile_.inter_node.bandwidth);
    const Seconds pods = transfer(sent * crossing_pods(run.phase, group, profile_.inter_node.pods) * profile_.devices_per_node,
                                  profile_.inter_node.bandwidth);
    const Seconds reducing = profile_.kind == DeviceKind::Cpu ? kernels_.streaming(run.phase.bytes_reduced) : Seconds{};
    price.time += run.repeat * (run.phase.messages * link_of(group).latency + std::max({port, uplink, pods}) + reducing);
    price.port_time += run.repeat * port;
    price.uplink_time += run.repeat * uplink;
  }
  return price;
}

const CollectiveAlgorithm* CollectivePrices::cheapest_of(const CollectiveShape& shape, const GroupPlacement& group) const {
  const CollectiveAlgorithm* best = nullptr;
  Seconds least{};
  for (const CollectiveAlgorithm& algorithm : all_collective_algorithms()) {
    if (algorithm.why_unsupported(shape)) continue;
    const Seconds time = by_algorithm(algorithm, shape, group).time;
    if (best != nullptr && time >= least) continue;
    best = &algorithm;
    least = time;
  }
  return best;
}

CollectivePrice CollectivePrices::cheapest(const CollectiveShape& shape, const GroupPlacement& group) const {
  const CollectiveAlgorithm* const best = cheapest_of(shape, group);
  return best == nullptr ? CollectivePrice{} : by_algorithm(*best, shape, group);
}

RankGroup CollectivePrices::clock_group(const GroupPlacement& group) const {
  RankGroup ranks{real(group.ranks), group.spans_nodes() ? real(profile_.devices_per_node) / real(group.on_node) : 1.0};
  std::ranges::copy(group.in_pods, ranks.in_pods.begin());
  return ranks;
}

// Bytes are bytes: where a precision was not measured, that of fp32 stands for it.
std::vector<const MeasuredKernel*> CollectivePrices::points(Kernel kernel) const {
  const auto own = select_points(profile_, kernel, precision_, busy_);
  return own.empty() ? select_points(profile_, kernel, Precision::Fp32, busy_) : own;
}

// Measured groups fill a node before they take the next.
bool CollectivePrices::is_compact(const GroupPlacement& group) const {
  return group.on_node == std::min(group.ranks, profile_.devices_per_node) && !group.spans_pods();
}

const RatioCurve& CollectivePrices::curve(const CollectiveShape& shape, const GroupPlacement& group) {
  static const RatioCurve kNone;
  if (!is_compact(group)) return kNone;
  const auto [entry, is_new] = curves_.try_emplace({shape.kind, shape.ranks});
  const auto kernel = measured_as(shape.kind);
  if (!is_new || !kernel || profile_.measured.empty()) return entry->second;
  for (const MeasuredKernel* point : points(*kernel)) {
    if (point->shape.size() < 2 || point->shape[1] != shape.ranks) continue;
    const Bytes payload(point->shape[0]);
    entry->second.add(payload_coordinate(payload), point->time, cheapest({shape.kind, shape.ranks, payload}, group).time);
    measured_concurrency_ = std::max(measured_concurrency_, point->concurrent_ranks);
  }
  return entry->second;
}

// The clock takes it that all groups of a node leave it at once. What each puts on port and uplink says the rest.
CollectivePrice CollectivePrices::by_clock(const CollectiveShape& shape, const GroupPlacement& group,
                                           const LinkClock::Copies& copies) const {
  const double payload = static_cast<double>((is_uneven(shape) ? ring_piece_of(shape) * std::int64_t{shape.ranks} : shape.payload).value());
  const RankGroup ranks = clock_group(group);
  const double crossing = clock_->crossing(shape.kind, payload, ranks);
  CollectivePrice price;
  price.time = Seconds(seconds(*clock_, shape.kind, {payload, crossing}, {ranks, real(group.on_node), copies}));
  price.port_time = Seconds(crossing / clock_->link_rate());
  const double leaving = shape.kind == CollectiveKind::AllToAll ? clock_->leaving(crossing, ranks, copies) : crossing;
  if (group.spans_nodes()) price.uplink_time = Seconds(leaving / clock_->node_rate());
  return price;
}

CollectivePrice CollectivePrices::price(const CollectiveShape& shape, const GroupPlacement& group, const LinkClock::Copies& copies) {
  if (clock_) return limited(by_clock(shape, group, copies));
  CollectivePrice price = cheapest(shape, group);
  const RatioCurve& measured = curve(shape, group);
  if (!measured.empty()) price.time *= measured.ratio(payload_coordinate(shape.payload));
  return limited(price);
}

std::string_view CollectivePrices::algorithm(const CollectiveShape& shape, const GroupPlacement& group) const {
  if (clock_) return clock_->algorithm(shape.kind, clock_group(group));
  const CollectiveAlgorithm* const best = cheapest_of(shape, group);
  return best == nullptr ? std::string_view() : best->name;
}

Seconds CollectivePrices::post(const GroupPlacement& pair) const { return link_of(pair).latency; }

}  // namespace sim
