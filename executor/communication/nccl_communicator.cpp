#include "executor/communication/nccl_communicator.h"

#include <ATen/ops/zeros.h>

#include <numeric>

namespace executor {

WorkHandle NcclCommunicator::all_reduce(at::Tensor buffer, ReduceOperation operation, const sim::TaskKey& key) {
  OperationHeader header = header_of(OperationKind::AllReduce, buffer, key);
  header.reduction = operation;
  const at::Tensor there = lane_.on_device(buffer);
  return lane_.issue(
      header, size(), [&](const NcclOn& on) { return lane_.library().all_reduce(nccl_buffer(there), operation, on); },
      NcclLane::result_of(buffer, there));
}

WorkHandle NcclCommunicator::reduce_scatter(at::Tensor shard, at::Tensor full, const sim::TaskKey& key) {
  require_shard({shard, full}, size(), key);
  const at::Tensor from = lane_.on_device(full), to = lane_.on_device(shard);
  return lane_.issue(
      header_of(OperationKind::ReduceScatter, full, key), size(),
      [&](const NcclOn& on) { return lane_.library().reduce_scatter(nccl_buffer({from, to}, to.numel()), on); },
      NcclLane::result_of(shard, to));
}

WorkHandle NcclCommunicator::all_gather(at::Tensor full, at::Tensor shard, const sim::TaskKey& key) {
  require_shard({shard, full}, size(), key);
  const at::Tensor from = lane_.on_device(shard), to = lane_.on_device(full);
  return lane_.issue(
      header_of(OperationKind::AllGather, full, key), size(),
      [&](const NcclOn& on) { return lane_.library().all_gather(nccl_buffer({from, to}, from.numel()), on); }, NcclLane::result_of(full, to));
}

// All sends, then all receives, as one operation. This rank's own rows are a copy.
NcclStatus NcclCommunicator::exchange(const RowExchange& rows, const NcclOn& on) const {
  const NcclLibrary& library = lane_.library();
  NcclStatus worst = library.begin_group();
  const auto note = [&](NcclStatus status) { worst = status == NcclStatus::Success || status == NcclStatus::InProgress ? worst : status; };
  std::int64_t first = 0;
  for (std::int32_t peer = 0; peer < size(); ++peer) {
    const std::int64_t count = rows.to[static_cast<std::size_t>(peer)];
    if (peer != rank() && count > 0) note(library.send(nccl_buffer(rows.sent.narrow(0, first, count)), peer, on));
    first += count;
  }
  first = 0;
  for (std::int32_t peer = 0; peer < size(); ++peer) {
    const std::int64_t count = rows.from[static_cast<std::size_t>(peer)];
    if (peer != rank() && count > 0) note(library.receive(nccl_buffer(rows.received.narrow(0, first, count)), peer, on));
    first += count;
  }
  const NcclStatus ended = library.end_group();
  return worst == NcclStatus::Success || worst == NcclStatus::InProgress ? ended : worst;
}

WorkHandle NcclCommunicator::all_to_all(const RowExchange& rows, const sim::TaskKey& key) {
  const auto own = static_cast<std::ptrdiff_t>(rank());
  const auto before = [&](const std::vector<std::int64_t>& counts) { return std::accumulate(counts.begin(), counts.begin() + own, std::int64_t{0}); };
  const OperationHeader header = header_of(rows, key);
  const std::int64_t mine = rows.to[static_cast<std::size_t>(own)];
  rows.received.narrow(0, before(rows.from), mine).copy_(rows.sent.narrow(0, before(rows.to), mine));
  return lane_.issue(header, size(), [&](const NcclOn& on) { return exchange(rows, on); }, {});
}

WorkHandle NcclCommunicator::broadcast(at::Tensor buffer, std::int32_t root, const sim::TaskKey& key) {
  OperationHeader header = header_of(OperationKind::Broadcast, buffer, key);
  header.root = root;
  const at::Tensor there = lane_.on_device(buffer);
  return lane_.issue(
      header, size(), [&](const NcclOn& on) { return lane_.library().broadcast(nccl_buffer(there), root, on); },
      NcclLane::result_of(buffer, there));
}

WorkHandle NcclCommunicator::send(at::Tensor buffer, std::int32_t to, const sim::TaskKey& key) {
  OperationHeader header = header_of(OperationKind::Transfer, buffer, key);
  header.transfer = transfer_identity(key, TransferEnd::Sender);
  const at::Tensor there = lane_.on_device(buffer);
  return lane_.issue(
      header, 2, [&](const NcclOn& on) { return lane_.library().send(nccl_buffer(there), to, on); }, {});
}

WorkHandle NcclCommunicator::receive(at::Tensor buffer, std::int32_t from, const sim::TaskKey& key) {
  OperationHeader header = header_of(OperationKind::Transfer, buffer, key);
  header.transfer = transfer_identity(key, TransferEnd::Receiver);
  const at::Tensor there = lane_.on_device(buffer);
  return lane_.issue(
      header, 2, [&](const NcclOn& on) { return lane_.library().receive(nccl_buffer(there), from, on); },
      NcclLane::result_of(buffer, there));
}

void NcclCommunicator::barrier() {
  const at::Tensor nothing = at::zeros({1}, at::TensorOptions().dtype(at::kInt).device(lane_.session().settings().device));
  lane_.issue({.bytes = 4, .kind = OperationKind::Barrier}, size(),
              [&](const NcclOn& on) { return lane_.library().all_reduce(nccl_buffer(nothing), ReduceOperation::Sum, on); }, {});
  lane_.session().drain();
}

}  // namespace executor
