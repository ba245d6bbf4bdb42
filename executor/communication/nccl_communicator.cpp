#include "executor/communication/nccl_communicator.h"

#include <ATen/ops/zeros.h>

#include "sim/units/at.h"

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
      [&](const NcclOn& on) {
        return lane_.library().reduce_scatter(nccl_buffer({from, to}, to.numel()), on);
      },
      NcclLane::result_of(shard, to));
}

WorkHandle NcclCommunicator::all_gather(at::Tensor full, at::Tensor shard, const sim::TaskKey& key) {
  require_shard({shard, full}, size(), key);
  const at::Tensor from = lane_.on_device(shard), to = lane_.on_device(full);
  return lane_.issue(
      header_of(OperationKind::AllGather, full, key), size(),
      [&](const NcclOn& on) {
        return lane_.library().all_gather(nccl_buffer({from, to}, from.numel()), on);
      },
      NcclLane::result_of(full, to));
}

// A part after the other, each with an operation of its own; what NCCL says first that is no success is said.
NcclStatus NcclCommunicator::by_owner(const OwnedParts& parts,
                                      const std::function<NcclStatus(const at::Tensor& part, std::int32_t owner)>& one) {
  std::int64_t begin = 0;
  for (std::int32_t owner = 0; std::cmp_less(owner, parts.elements.size()); begin += sim::at(parts.elements, owner), ++owner) {
    if (sim::at(parts.elements, owner) == 0) continue;
    const NcclStatus status = one(parts.whole.narrow(0, begin, sim::at(parts.elements, owner)), owner);
    if (status != NcclStatus::Success && status != NcclStatus::InProgress) return status;
  }
  return NcclStatus::Success;
}

WorkHandle NcclCommunicator::reduce_to_owners(at::Tensor own, const OwnedParts& parts, const sim::TaskKey& key) {
  require_parts(parts, size(), key);
  const OwnedParts there{lane_.on_device(parts.whole), parts.elements};
  const at::Tensor to = lane_.on_device(own);
  return lane_.issue(
      header_of(OperationKind::ReduceScatter, parts.whole, key), size(),
      [&](const NcclOn& on) {
        return by_owner(there, [&](const at::Tensor& part, std::int32_t owner) {
          return lane_.library().reduce(nccl_buffer({part, owner == rank() ? to : part}, part.numel()), owner, on);
        });
      },
      NcclLane::result_of(own, to));
}

WorkHandle NcclCommunicator::gather_from_owners(const OwnedParts& parts, const sim::TaskKey& key) {
  require_parts(parts, size(), key);
  const OwnedParts there{lane_.on_device(parts.whole), parts.elements};
  return lane_.issue(
      header_of(OperationKind::AllGather, parts.whole, key), size(),
      [&](const NcclOn& on) {
        return by_owner(
            there, [&](const at::Tensor& part, std::int32_t owner) { return lane_.library().broadcast(nccl_buffer(part), owner, on); });
      },
      NcclLane::result_of(parts.whole, there.whole));
}

WorkHandle NcclCommunicator::exchange(const RowExchange& rows, const sim::TaskKey& key) {
  const OperationHeader header = header_of(rows, key);
  const at::Tensor from = lane_.on_device(rows.sent), to = lane_.on_device(rows.received);
  NcclStretches stretches;
  for (std::size_t peer = 0; peer < rows.to.size(); ++peer) {
    stretches.to.push_back(sim::count_of(rows.to[peer] * from.size(1)));
    stretches.from.push_back(sim::count_of(rows.from[peer] * from.size(1)));
  }
  return lane_.issue(
      header, size(),
      [&](const NcclOn& on) {
        return lane_.library().exchange(nccl_buffer({from, to}, from.numel()), stretches, on);
      },
      NcclLane::result_of(rows.received, to));
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
  return lane_.issue(header, 2, [&](const NcclOn& on) { return lane_.library().send(nccl_buffer(there), to, on); }, {});
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
  lane_.session().watch().drain();
}

}  // namespace executor
