#include "executor/communication/staged_communicator.h"

#include <ATen/ops/empty.h>

#include <utility>

namespace executor {
namespace {

// Pinned where the device is a GPU: copies run at the bus's speed, and the allocator keeps the memory for the next ones.
at::Tensor host_buffer(const at::Tensor& tensor) {
  return at::empty(tensor.sizes(), tensor.options().device(at::kCPU).pinned_memory(tensor.is_cuda()));
}
at::Tensor on_host(const at::Tensor& tensor) {
  if (tensor.is_cpu()) return tensor;
  at::Tensor host = host_buffer(tensor);
  host.copy_(tensor);  // waits for the current stream
  return host;
}

class StagedWork final : public Work {
 public:
  StagedWork(WorkHandle work, at::Tensor from, at::Tensor to) : work_(std::move(work)), from_(std::move(from)), to_(std::move(to)) {}
  void wait() override {
    work_->wait();
    if (from_.defined()) to_.copy_(from_);
    from_.reset();
    to_.reset();
  }

 private:
  WorkHandle work_;
  at::Tensor from_, to_;
};

WorkHandle staged(WorkHandle work, const at::Tensor& from, const at::Tensor& to) {
  if (to.is_cpu()) return work;
  return std::make_unique<StagedWork>(std::move(work), from, to);
}

}  // namespace

WorkHandle StagedCommunicator::all_reduce(at::Tensor buffer, ReduceOperation operation, const sim::TaskKey& key) {
  const at::Tensor host = on_host(buffer);
  return staged(host_->all_reduce(host, operation, key), host, buffer);
}

WorkHandle StagedCommunicator::reduce_scatter(at::Tensor shard, at::Tensor full, const sim::TaskKey& key) {
  const at::Tensor from = on_host(full), to = shard.is_cpu() ? shard : host_buffer(shard);
  return staged(host_->reduce_scatter(to, from, key), to, shard);
}

WorkHandle StagedCommunicator::all_gather(at::Tensor full, at::Tensor shard, const sim::TaskKey& key) {
  const at::Tensor from = on_host(shard), to = full.is_cpu() ? full : host_buffer(full);
  return staged(host_->all_gather(to, from, key), to, full);
}

WorkHandle StagedCommunicator::reduce_to_owners(at::Tensor own, const OwnedParts& parts, const sim::TaskKey& key) {
  const at::Tensor to = own.is_cpu() ? own : host_buffer(own);
  return staged(host_->reduce_to_owners(to, {on_host(parts.whole), parts.elements}, key), to, own);
}

WorkHandle StagedCommunicator::gather_from_owners(const OwnedParts& parts, const sim::TaskKey& key) {
  const at::Tensor host = on_host(parts.whole);
  return staged(host_->gather_from_owners({host, parts.elements}, key), host, parts.whole);
}

WorkHandle StagedCommunicator::exchange(const RowExchange& rows, const sim::TaskKey& key) {
  RowExchange host = rows;
  host.sent = on_host(rows.sent);
  if (!rows.received.is_cpu()) host.received = host_buffer(rows.received);
  return staged(host_->exchange(host, key), host.received, rows.received);
}

WorkHandle StagedCommunicator::broadcast(at::Tensor buffer, std::int32_t root, const sim::TaskKey& key) {
  const at::Tensor host = on_host(buffer);
  return staged(host_->broadcast(host, root, key), host, buffer);
}

WorkHandle StagedCommunicator::send(at::Tensor buffer, std::int32_t to, const sim::TaskKey& key) {
  return host_->send(on_host(buffer), to, key);  // the message holds the host's copy
}

WorkHandle StagedCommunicator::receive(at::Tensor buffer, std::int32_t from, const sim::TaskKey& key) {
  const at::Tensor host = buffer.is_cpu() ? buffer : host_buffer(buffer);
  return staged(host_->receive(host, from, key), host, buffer);
}

}  // namespace executor
