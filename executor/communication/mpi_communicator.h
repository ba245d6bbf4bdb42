// Collectives over Open MPI's point-to-point messages, for CPU tensors. Deterministic (see communicator.h). A started operation moves only
// while some operation of the process is waited for; sends never block.
// The ledger is kept here and nowhere else: one entry an operation, in the order of their start, barriers left out.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "executor/communication/direct_exchange.h"
#include "executor/communication/ledger.h"
#include "executor/communication/mpi_operation.h"
#include "sim/units/index.h"

namespace executor {

class MpiCommunicator final : public Communicator {
 public:
  // Collective over all ranks of the job: each calls it in the same order, with the world ranks of its own group in ascending order
  // (itself among them). `name` says in errors which group this is. `ledger` may be null; else it outlives the communicator.
  MpiCommunicator(std::shared_ptr<MpiSession> session, const std::vector<sim::Rank>& members, const std::string& name, Ledger* ledger);
  ~MpiCommunicator() override;

  std::int32_t rank() const override { return group_->rank; }
  std::int32_t size() const override { return group_->size; }
  WorkHandle all_reduce(at::Tensor buffer, ReduceOperation operation, const sim::TaskKey& key) override;
  WorkHandle reduce_scatter(at::Tensor shard, at::Tensor full, const sim::TaskKey& key) override;
  WorkHandle all_gather(at::Tensor full, at::Tensor shard, const sim::TaskKey& key) override;
  WorkHandle reduce_to_owners(at::Tensor own, const OwnedParts& parts, const sim::TaskKey& key) override;
  WorkHandle gather_from_owners(const OwnedParts& parts, const sim::TaskKey& key) override;
  WorkHandle exchange(const RowExchange& rows, const sim::TaskKey& key) override;
  WorkHandle broadcast(at::Tensor buffer, std::int32_t root, const sim::TaskKey& key) override;
  WorkHandle send(at::Tensor buffer, std::int32_t to, const sim::TaskKey& key) override;
  WorkHandle receive(at::Tensor buffer, std::int32_t from, const sim::TaskKey& key) override;
  void barrier() override;

 private:
  using Rounds = std::deque<MpiOperation::Round>;
  std::vector<Peer> others() const;
  WorkHandle collective(OperationHeader header, Rounds rounds);
  WorkHandle reduce_chunks(const OperationHeader& header, Chunks chunks, const at::Tensor& own);
  WorkHandle gather_chunks(const OperationHeader& header, Chunks chunks);
  WorkHandle transfer(OperationHeader header, Peer peer, TransferEnd end, const at::Tensor& buffer);
  void record(const OperationHeader& header, std::int32_t group_size);

  std::shared_ptr<MpiGroup> group_;
  Ledger* ledger_;
  std::int64_t sequence_ = 0;
};

}  // namespace executor
