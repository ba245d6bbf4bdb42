// The pipeline's sends and receives by NCCL, which matches them by order alone and lets operations of one communicator wait for each other. So each
// flow has a communicator of its own: (from stage, to stage, forward or backward). Within a flow both ends follow the order of the microbatches,
// and no send stands in the way of a receive. Transfers name the peer's rank in the mesh; collectives are refused.
#pragma once

#include <map>
#include <tuple>

#include "executor/communication/nccl_lane.h"
#include "sim/plan/device_mesh.h"

namespace executor {

class NcclTransfers final : public Communicator {
 public:
  // Collective over all ranks of the job. `ledger` may be null; else it outlives this.
  NcclTransfers(const std::shared_ptr<NcclSession>& session, const sim::DeviceMesh& mesh, Ledger* ledger);

  std::int32_t rank() const override { return place_.rank; }
  std::int32_t size() const override { return place_.size; }
  WorkHandle all_reduce(at::Tensor, ReduceOperation, const sim::TaskKey& key) override;
  WorkHandle reduce_scatter(at::Tensor, at::Tensor, const sim::TaskKey& key) override;
  WorkHandle all_gather(at::Tensor, at::Tensor, const sim::TaskKey& key) override;
  WorkHandle reduce_to_owners(at::Tensor, const OwnedParts&, const sim::TaskKey& key) override;
  WorkHandle gather_from_owners(const OwnedParts&, const sim::TaskKey& key) override;
  WorkHandle exchange(const RowExchange&, const sim::TaskKey& key) override;
  WorkHandle broadcast(at::Tensor, std::int32_t, const sim::TaskKey& key) override;
  WorkHandle send(at::Tensor buffer, std::int32_t to, const sim::TaskKey& key) override;
  WorkHandle receive(at::Tensor buffer, std::int32_t from, const sim::TaskKey& key) override;
  void barrier() override;

 private:
  using Flow = std::tuple<std::int32_t, TransferEnd, sim::Phase>;  // the peer, which end is here, the direction
  NcclLane& lane(const Flow& flow, const sim::TaskKey& key);
  WorkHandle transfer(const at::Tensor& buffer, const Flow& flow, const sim::TaskKey& key);

  NcclPlace place_;
  std::map<Flow, NcclLane> lanes_;
};

}  // namespace executor
