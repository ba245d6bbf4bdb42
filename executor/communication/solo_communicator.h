// The group of one rank: every operation is a copy or nothing, done when it returns. Used where a mesh axis has one rank, and by runs
// without MPI. A transfer to oneself is a mistake and is refused.
#pragma once

#include "executor/communication/communicator.h"

namespace executor {

class SoloCommunicator final : public Communicator {
 public:
  std::int32_t rank() const override { return 0; }
  std::int32_t size() const override { return 1; }
  WorkHandle all_reduce(at::Tensor buffer, ReduceOperation operation, const sim::TaskKey& key) override;
  WorkHandle reduce_scatter(at::Tensor shard, at::Tensor full, const sim::TaskKey& key) override;
  WorkHandle all_gather(at::Tensor full, at::Tensor shard, const sim::TaskKey& key) override;
  WorkHandle reduce_to_owners(at::Tensor own, const OwnedParts& parts, const sim::TaskKey& key) override;
  WorkHandle gather_from_owners(const OwnedParts& parts, const sim::TaskKey& key) override;
  WorkHandle exchange(const RowExchange& rows, const sim::TaskKey& key) override;
  WorkHandle broadcast(at::Tensor buffer, std::int32_t root, const sim::TaskKey& key) override;
  WorkHandle send(at::Tensor buffer, std::int32_t to, const sim::TaskKey& key) override;
  WorkHandle receive(at::Tensor buffer, std::int32_t from, const sim::TaskKey& key) override;
  void barrier() override {}
};

}  // namespace executor
