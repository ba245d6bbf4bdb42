#include "sim/collective/ring.h"

#include "sim/collective/pieces.h"

namespace sim {
namespace {

std::optional<std::string_view> why_no_ring(const CollectiveShape& shape) {
  if (shape.kind >= CollectiveKind::Broadcast) return "a ring carries all_reduce, reduce_scatter and all_gather only";
  return std::nullopt;
}

std::vector<PhaseRun> ring_phases(const CollectiveShape& shape) {
  if (shape.ranks < 2) return {};
  const Bytes piece = ring_piece_of(shape);
  const PhaseRun reduce{shape.ranks - 1, {.messages = 1, .bytes_sent = piece, .bytes_reduced = 2 * piece}};
  const PhaseRun gather{shape.ranks - 1, {.messages = 1, .bytes_sent = piece, .bytes_reduced = Bytes(0)}};
  if (shape.kind == CollectiveKind::ReduceScatter) return {reduce};
  if (shape.kind == CollectiveKind::AllGather) return {gather};
  return {reduce, gather};
}

}  // namespace

const CollectiveAlgorithm kRingAlgorithm{
    .name = "ring",
    .summary = "2(n-1) phases of payload / n to the neighbor",
    .source = "Patarasuk and Yuan, Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations, JPDC 2009",
    .why_unsupported = why_no_ring,
    .phases = ring_phases,
};

}  // namespace sim
