#include "sim/collective/direct.h"

#include "sim/collective/pieces.h"

namespace sim {
namespace {

std::optional<std::string_view> why_no_direct(const CollectiveShape& shape) {
  if (shape.kind == CollectiveKind::SendReceive && shape.ranks > 2) return "send_receive joins two ranks";
  return std::nullopt;
}

std::vector<PhaseRun> direct_phases(const CollectiveShape& shape) {
  if (shape.ranks < 2) return {};
  const std::int32_t others = shape.ranks - 1;
  const Bytes piece = piece_of(shape);
  const PhaseRun reduce{1, {.messages = others, .bytes_sent = others * piece, .bytes_reduced = shape.ranks * piece}};
  const PhaseRun gather{1, {.messages = others, .bytes_sent = others * piece, .bytes_reduced = Bytes(0)}};
  switch (shape.kind) {
    case CollectiveKind::AllReduce: return {reduce, gather};
    case CollectiveKind::ReduceScatter: return {reduce};
    case CollectiveKind::AllToAll:
    case CollectiveKind::AllGather: return {gather};
    case CollectiveKind::Broadcast: return {{1, {.messages = others, .bytes_sent = others * shape.payload, .bytes_reduced = Bytes(0)}}};
    case CollectiveKind::RingHop:
    case CollectiveKind::SendReceive: return {{1, {.messages = 1, .bytes_sent = shape.payload, .bytes_reduced = Bytes(0)}}};
  }
  return {};
}

}  // namespace

const CollectiveAlgorithm kDirectAlgorithm{
    .name = "direct",
    .summary = "every pair at once: one phase a direction, sums in rank order",
    .source = "one phase of an all-to-all personalized exchange (Johnsson and Ho, IEEE Transactions on Computers 1989)",
    .why_unsupported = why_no_direct,
    .phases = direct_phases,
};

}  // namespace sim
