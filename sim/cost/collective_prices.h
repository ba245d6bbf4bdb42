// The time of a collective or a transfer, and how much of its links it takes: from measured points of the same kind and group size, else by
// the link clock of sim/clock where the profile says how collectives behave, else by the cheapest algorithm of the collective table.
// Says nothing about which link: that is placement.
#pragma once

#include <map>
#include <optional>
#include <string_view>

#include "sim/clock/link_clock.h"
#include "sim/collective/collective.h"
#include "sim/cost/kernel_prices.h"
#include "sim/cost/placement.h"

namespace sim {

CollectiveKind kind_of(Operation operation);  // that communicates

struct CollectivePrice {
  Seconds time{};         // with the links for itself
  Seconds port_time{};    // of it, while a rank's port is busy
  Seconds uplink_time{};  // while its node's uplink is busy with this group (all members on the node together)
};

class CollectivePrices {
 public:
  CollectivePrices(const Cluster& cluster, const KernelPrices& kernels, Precision precision, BusyRanks busy);

  // copies: of the tokens in an all-to-all.
  CollectivePrice price(const CollectiveShape& shape, const GroupPlacement& group, const LinkClock::Copies& copies = {});
  std::string_view algorithm(const CollectiveShape& shape, const GroupPlacement& group) const;  // whose time the price is; empty: none
  Seconds post(const GroupPlacement& pair) const;  // until a sender may go on: the latency of a message
  std::int32_t measured_concurrency() const { return measured_concurrency_; }

 private:
  using MeasuredKey = std::pair<CollectiveKind, std::int32_t>;  // kind, ranks
  bool is_compact(const GroupPlacement& group) const;
  CollectivePrice by_clock(const CollectiveShape& shape, const GroupPlacement& group, const LinkClock::Copies& copies) const;
  CollectivePrice by_algorithm(const CollectiveAlgorithm& algorithm, const CollectiveShape& shape, const GroupPlacement& group) const;
  const CollectiveAlgorithm* cheapest_of(const CollectiveShape& shape, const GroupPlacement& group) const;  // null: none can
  RankGroup clock_group(const GroupPlacement& group) const;
  CollectivePrice cheapest(const CollectiveShape& shape, const GroupPlacement& group) const;
  const RatioCurve& curve(const CollectiveShape& shape, const GroupPlacement& group);
  std::vector<const MeasuredKernel*> points(Kernel kernel) const;
  const LinkProfile& link_of(const GroupPlacement& group) const;

  const HardwareProfile& profile_;
  std::optional<LinkClock> clock_;
  const KernelPrices& kernels_;
  Precision precision_;
  BusyRanks busy_;
  std::int32_t measured_concurrency_ = 1;
  std::map<MeasuredKey, RatioCurve> curves_;
};

}  // namespace sim
