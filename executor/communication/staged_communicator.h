// A communicator for host tensors made to serve device tensors: what is sent is copied to the host first, what came back is copied to the device by
// wait(). So several ranks may share one GPU, over MPI, for proofs of correctness; it says nothing about the speed of GPUs. Host tensors pass through.
#pragma once

#include "executor/communication/communicator.h"

namespace executor {

class StagedCommunicator final : public Communicator {
 public:
  explicit StagedCommunicator(std::unique_ptr<Communicator> host) : host_(std::move(host)) {}

  std::int32_t rank() const override { return host_->rank(); }
  std::int32_t size() const override { return host_->size(); }
  WorkHandle all_reduce(at::Tensor buffer, ReduceOperation operation, const sim::TaskKey& key) override;
  WorkHandle reduce_scatter(at::Tensor shard, at::Tensor full, const sim::TaskKey& key) override;
  WorkHandle all_gather(at::Tensor full, at::Tensor shard, const sim::TaskKey& key) override;
  WorkHandle reduce_to_owners(at::Tensor own, const OwnedParts& parts, const sim::TaskKey& key) override;
  WorkHandle gather_from_owners(const OwnedParts& parts, const sim::TaskKey& key) override;
  WorkHandle exchange(const RowExchange& rows, const sim::TaskKey& key) override;
  WorkHandle broadcast(at::Tensor buffer, std::int32_t root, const sim::TaskKey& key) override;
  WorkHandle send(at::Tensor buffer, std::int32_t to, const sim::TaskKey& key) override;
  WorkHandle receive(at::Tensor buffer, std::int32_t from, const sim::TaskKey& key) override;
  void barrier() override { host_->barrier(); }

 private:
  std::unique_ptr<Communicator> host_;
};

}  // namespace executor
