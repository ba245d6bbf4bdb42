// Collective algorithms as phases: how many steps, how many bytes a rank sends in each. No time here: cost prices them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sim/units/quantity.h"

namespace sim {

enum class CollectiveKind : std::uint8_t { AllReduce, ReduceScatter, AllGather, Broadcast, SendReceive, AllToAll, RingHop };
inline constexpr std::string_view kCollectiveNames[] = {"all_reduce",   "reduce_scatter", "all_gather", "broadcast",
                                                        "send_receive", "all_to_all",     "ring_hop"};

// One phase: `messages` go out at once from each rank, `bytes_sent` in all; then operands of `bytes_reduced` in all are summed locally
// (the own piece counts as an operand). A payload that does not divide by the ranks travels in pieces of ceil(payload / ranks).
struct CollectivePhase {
  std::int32_t messages = 1;
  Bytes bytes_sent{};
  Bytes bytes_reduced{};
  bool operator==(const CollectivePhase&) const = default;
};

// payload: the whole buffer, i.e. what an all-reduce sums, what an all-gather leaves on each rank, what a reduce-scatter starts from, what an
// all-to-all deals out (its own part included); of a ring hop: what each rank hands to the next one.
struct CollectiveShape {
  CollectiveKind kind{};
  std::int32_t ranks = 1;
  Bytes payload{};
  struct Parts {
    Bytes largest{}, smallest{};
    bool operator==(const Parts&) const = default;
  } parts{};  // of a reduce-scatter or an all-gather whose ranks own unequal parts; both 0: equal ones
};

// A run of equal phases, so that a ring over 1,024 ranks is one entry.
struct PhaseRun {
  std::int32_t repeat = 1;
  CollectivePhase phase;
};

struct CollectiveAlgorithm {
  std::string_view name;  // "ring", "direct"
  std::string_view summary;
  std::string_view source;
  std::optional<std::string_view> (*why_unsupported)(const CollectiveShape&);
  std::vector<PhaseRun> (*phases)(const CollectiveShape&);
};

std::span<const CollectiveAlgorithm> all_collective_algorithms();
const CollectiveAlgorithm* find_collective_algorithm(std::string_view name);
Bytes bytes_on_wire(const CollectiveAlgorithm& algorithm, const CollectiveShape& shape);  // sent by one rank

}  // namespace sim
