#include "executor/communication/operation_header.h"

#include <fmt/format.h>

#include <numeric>
#include <stdexcept>
#include <utility>

#include "sim/units/at.h"
#include "sim/units/random_bits.h"

namespace executor {
namespace {

constexpr std::string_view kKindNames[] = {"all_reduce", "reduce_scatter", "all_gather", "exchange", "broadcast", "transfer", "barrier"};

void require_contiguous(const at::Tensor& tensor, const sim::TaskKey& key) {
  if (tensor.is_contiguous()) return;
  throw std::invalid_argument(fmt::format("{}: ranks exchange contiguous tensors only", sim::to_text(key)));
}

}  // namespace

OperationHeader header_of(OperationKind kind, const at::Tensor& whole, const sim::TaskKey& key) {
  require_contiguous(whole, key);
  return {.key = key, .bytes = static_cast<std::int64_t>(whole.nbytes()), .kind = kind, .type = whole.scalar_type()};
}

OperationHeader header_of(const RowExchange& rows, const sim::TaskKey& key) {
  OperationHeader header = header_of(OperationKind::Exchange, rows.sent, key);
  require_contiguous(rows.received, key);
  const auto sum = [](const std::vector<std::int64_t>& counts) { return std::accumulate(counts.begin(), counts.end(), std::int64_t{0}); };
  if (sum(rows.to) != rows.sent.size(0) || sum(rows.from) != rows.received.size(0) ||
      rows.sent.scalar_type() != rows.received.scalar_type())
    throw std::invalid_argument(fmt::format("{}: {} rows to others are not {}, or {} rows from them not {}", sim::to_text(key),
                                            sum(rows.to), rows.sent.size(0), sum(rows.from), rows.received.size(0)));
  header.bytes = 0;
  header.own_bytes = rows.own_bytes();
  return header;
}

void require_parts(const OwnedParts& parts, std::int32_t ranks, const sim::TaskKey& key) {
  require_contiguous(parts.whole, key);
  const std::int64_t sum = std::accumulate(parts.elements.begin(), parts.elements.end(), std::int64_t{0});
  if (std::cmp_equal(parts.elements.size(), ranks) && sum == parts.whole.numel()) return;
  throw std::invalid_argument(fmt::format("{}: {} shards of {} elements in all are not {} of {}", sim::to_text(key), parts.elements.size(),
                                          sum, ranks, parts.whole.numel()));
}

void require_shard(const ShardOf& tensors, std::int32_t ranks, const sim::TaskKey& key) {
  const auto& [shard, full] = tensors;
  require_contiguous(shard, key);
  if (shard.numel() * ranks == full.numel() && shard.scalar_type() == full.scalar_type()) return;
  throw std::invalid_argument(fmt::format("{}: a shard of {} elements times {} ranks is not {} elements of the same type",
                                          sim::to_text(key), shard.numel(), ranks, full.numel()));
}

std::string to_text(const OperationHeader& header) {
  const auto kind = sim::at(kKindNames, header.kind);
  if (header.kind == OperationKind::Barrier) return fmt::format("{} #{}", kind, header.sequence);
  const auto reduction = header.reduction == ReduceOperation::Maximum ? "(max)" : "";
  return fmt::format("{}{} {} #{} ({} bytes of {})", kind, reduction, sim::to_text(header.key), header.sequence,
                     header.bytes + header.own_bytes, c10::toString(header.type));
}

TransferIdentity transfer_identity(const sim::TaskKey& key, TransferEnd end) {
  std::int32_t boundary = key.layer.value();
  if (key.phase == sim::Phase::Forward && end == TransferEnd::Sender) ++boundary;  // the boundary is named by the layer above it
  if (key.phase == sim::Phase::Backward && end == TransferEnd::Receiver) ++boundary;
  return {.boundary = boundary, .microbatch = key.microbatch.value(), .slice = key.slice.value(), .phase = key.phase};
}

namespace {

// What all ranks of an operation say alike. Ranks of a group that spans stages (world, embedding) name their own stage and layer; a transfer's ends
// their own layers.
struct CommonPart {
  sim::TaskKey key;
  TransferIdentity transfer;
  std::int64_t sequence = 0, bytes = 0;
  OperationKind kind{};
  ReduceOperation reduction{};
  c10::ScalarType type{};
  std::int32_t root = 0;
  bool operator==(const CommonPart&) const = default;
};

CommonPart common_part(const OperationHeader& header) {
  CommonPart common{.key = header.key,
                    .transfer = header.transfer,
                    .sequence = header.sequence,
                    .bytes = header.bytes,
                    .kind = header.kind,
                    .reduction = header.reduction,
                    .type = header.type,
                    .root = header.root};
  const bool spans_stages = header.key.group == sim::MeshAxis::World || header.key.group == sim::MeshAxis::Embedding;
  if (header.kind == OperationKind::Transfer) common.key = {};
  if (!spans_stages) return common;
  common.key.stage = sim::StageIndex::none();
  common.key.chunk = sim::ChunkIndex::none();
  common.key.layer = sim::LayerIndex::none();
  common.key.sequence = 0;
  return common;
}

}  // namespace

bool same_operation(const OperationHeader& one, const OperationHeader& other) { return common_part(one) == common_part(other); }

std::uint64_t digest(const OperationHeader& header, std::uint64_t before) {
  const CommonPart of = common_part(header);
  std::uint64_t sum = before;
  const auto add = [&](auto number) { sum = sim::random_bits({sum}, static_cast<std::uint64_t>(number)); };
  for (const std::int32_t index :
       {of.key.stage.value(), of.key.chunk.value(), of.key.microbatch.value(), of.key.slice.value(), of.key.layer.value(), of.key.sequence,
        of.transfer.boundary, of.transfer.microbatch, of.transfer.slice, of.root})
    add(index);
  for (const std::int64_t amount : {of.sequence, of.bytes}) add(amount);
  add(of.key.phase);
  add(of.key.operation);
  add(of.key.group);
  add(of.transfer.phase);
  add(of.kind);
  add(of.reduction);
  add(of.type);
  return sum;
}

}  // namespace executor
