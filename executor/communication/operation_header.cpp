#include "executor/communication/operation_header.h"

#include <fmt/format.h>

#include <stdexcept>

namespace executor {
namespace {

constexpr std::string_view kKindNames[] = {"all_reduce", "reduce_scatter", "all_gather", "broadcast", "transfer", "barrier"};

void require_contiguous(const at::Tensor& tensor, const sim::TaskKey& key) {
  if (tensor.is_contiguous()) return;
  throw std::invalid_argument(fmt::format("{}: ranks exchange contiguous tensors only", sim::to_text(key)));
}

}  // namespace

OperationHeader header_of(OperationKind kind, const at::Tensor& whole, const sim::TaskKey& key) {
  require_contiguous(whole, key);
  return {.key = key, .bytes = static_cast<std::int64_t>(whole.nbytes()), .kind = kind, .type = whole.scalar_type()};
}

void require_shard(const ShardOf& tensors, std::int32_t ranks, const sim::TaskKey& key) {
  const auto& [shard, full] = tensors;
  require_contiguous(shard, key);
  if (shard.numel() * ranks == full.numel() && shard.scalar_type() == full.scalar_type()) return;
  throw std::invalid_argument(fmt::format("{}: a shard of {} elements times {} ranks is not {} elements of the same type",
                                          sim::to_text(key), shard.numel(), ranks, full.numel()));
}

std::string to_text(const OperationHeader& header) {
  const auto kind = kKindNames[static_cast<std::size_t>(header.kind)];
  if (header.kind == OperationKind::Barrier) return fmt::format("{} #{}", kind, header.sequence);
  const auto reduction = header.reduction == ReduceOperation::Maximum ? "(max)" : "";
  return fmt::format("{}{} {} #{} ({} bytes of {})", kind, reduction, sim::to_text(header.key), header.sequence, header.bytes,
                     c10::toString(header.type));
}

TransferIdentity transfer_identity(const sim::TaskKey& key, TransferEnd end) {
  std::int32_t boundary = key.layer.value();
  if (key.phase == sim::Phase::Forward && end == TransferEnd::Sender) ++boundary;  // the boundary is named by the layer above it
  if (key.phase == sim::Phase::Backward && end == TransferEnd::Receiver) ++boundary;
  return {.boundary = boundary, .microbatch = key.microbatch.value(), .phase = key.phase};
}

bool same_operation(const OperationHeader& one, const OperationHeader& other) {
  if (one.kind != other.kind || one.bytes != other.bytes || one.type != other.type || one.sequence != other.sequence) return false;
  if (one.kind == OperationKind::Transfer) return one.transfer == other.transfer;
  // Ranks of a group that spans stages (world, embedding) name their own stage and layer; all else is common.
  const bool spans_stages = one.key.group == sim::MeshAxis::World || one.key.group == sim::MeshAxis::Embedding;
  sim::TaskKey mine = one.key, theirs = other.key;
  if (spans_stages) {
    mine.stage = theirs.stage = sim::StageIndex::none();
    mine.chunk = theirs.chunk = sim::ChunkIndex::none();
    mine.layer = theirs.layer = sim::LayerIndex::none();
    mine.sequence = theirs.sequence = 0;
  }
  return mine == theirs && one.reduction == other.reduction && one.root == other.root;
}

}  // namespace executor
