// Collectives by NCCL, one rank a GPU. An operation goes on the current stream: what is issued later on that stream comes after it, and wait() makes
// the host wait for nothing. Host tensors (the step's few sums) go by way of the device; for them wait() waits for all that was started (NcclWatch::drain).
// Sums have NCCL's order, not that of the ranks. The ledger is that of MpiCommunicator, entry by entry.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "executor/communication/nccl_lane.h"

namespace executor {

class NcclCommunicator final : public Communicator {
 public:
  // Collective over all ranks of the job, as NcclSession::make_group. This rank is a member. `ledger` may be null; else it outlives this.
  NcclCommunicator(const std::shared_ptr<NcclSession>& session, const std::vector<sim::Rank>& members, const std::string& name,
                   Ledger* ledger)
      : lane_(session, session->make_group(members, name), ledger) {}

  std::int32_t rank() const override { return lane_.group().rank; }
  std::int32_t size() const override { return static_cast<std::int32_t>(lane_.group().members.size()); }
  WorkHandle all_reduce(at::Tensor buffer, ReduceOperation operation, const sim::TaskKey& key) override;
  WorkHandle reduce_scatter(at::Tensor shard, at::Tensor full, const sim::TaskKey& key) override;
  WorkHandle all_gather(at::Tensor full, at::Tensor shard, const sim::TaskKey& key) override;
  WorkHandle reduce_to_owners(at::Tensor own, const OwnedParts& parts, const sim::TaskKey& key) override;
  WorkHandle gather_from_owners(const OwnedParts& parts, const sim::TaskKey& key) override;
  WorkHandle exchange(const RowExchange& rows, const sim::TaskKey& key) override;
  WorkHandle broadcast(at::Tensor buffer, std::int32_t root, const sim::TaskKey& key) override;
  WorkHandle send(at::Tensor buffer, std::int32_t to, const sim::TaskKey& key) override;  // matched by order alone
  WorkHandle receive(at::Tensor buffer, std::int32_t from, const sim::TaskKey& key) override;
  void barrier() override;

 private:
  static NcclStatus by_owner(const OwnedParts& parts, const std::function<NcclStatus(const at::Tensor& part, std::int32_t owner)>& one);

  NcclLane lane_;
};

}  // namespace executor
