#include "executor/communication/nccl_transfers.h"

#include <fmt/format.h>

#include <set>
#include <stdexcept>

namespace executor {
namespace {

[[noreturn]] void refuse_collective(const sim::TaskKey& key) {
  throw std::invalid_argument(fmt::format("{}: neighbours in a pipeline send and receive, nothing else", sim::to_text(key)));
}

// Stages that pass something on to each other, the last and the first among them (interleaved), each pair once.
std::set<std::pair<sim::StageIndex, sim::StageIndex>> neighbours(const sim::DeviceMesh& mesh) {
  std::set<std::pair<sim::StageIndex, sim::StageIndex>> pairs;
  for (std::int32_t stage = 0; stage < mesh.pipeline; ++stage) {
    const sim::StageIndex here(stage), next((stage + 1) % mesh.pipeline);
    pairs.insert({here, next});
    pairs.insert({next, here});
  }
  return pairs;
}

}  // namespace

NcclTransfers::NcclTransfers(const std::shared_ptr<NcclSession>& session, const sim::DeviceMesh& mesh, Ledger* ledger)
    : place_(session->settings().place) {
  const sim::Rank self(place_.rank);
  const sim::MeshCoordinate here = mesh.coordinate(self);
  for (const auto& [from, to] : neighbours(mesh))
    for (const sim::Phase phase : {sim::Phase::Forward, sim::Phase::Backward}) {
      const auto rank_at = [&](sim::StageIndex stage) { return mesh.rank_of({.data = here.data, .stage = stage, .tensor = here.tensor}); };
      const sim::Rank sender = rank_at(from), receiver = rank_at(to);
      const NcclGroup* const group = session->make_group({sender, receiver}, "pipeline");
      if (group == nullptr) continue;
      const bool sends = sender == self;
      lanes_.emplace(Flow{(sends ? receiver : sender).value(), sends ? TransferEnd::Sender : TransferEnd::Receiver, phase},
                     NcclLane(session, group, ledger));
    }
}

NcclLane& NcclTransfers::lane(const Flow& flow, const sim::TaskKey& key) {
  const auto found = lanes_.find(flow);
  if (found != lanes_.end()) return found->second;
  throw std::invalid_argument(fmt::format("{}: rank {} is no neighbour of rank {}", sim::to_text(key), std::get<0>(flow), place_.rank));
}

WorkHandle NcclTransfers::transfer(const at::Tensor& buffer, const Flow& flow, const sim::TaskKey& key) {
  NcclLane& on_lane = lane(flow, key);
  const TransferEnd end = std::get<TransferEnd>(flow);
  OperationHeader header = header_of(OperationKind::Transfer, buffer, key);
  header.transfer = transfer_identity(key, end);
  constexpr std::int32_t kSender = 0, kReceiver = 1;
  return on_lane.issue(header, 2,
                       [&](const NcclOn& on) {
                         const NcclLibrary& library = on_lane.library();
                         return end == TransferEnd::Sender ? library.send(nccl_buffer(buffer), kReceiver, on)
                                                           : library.receive(nccl_buffer(buffer), kSender, on);
                       },
                       {});
}

WorkHandle NcclTransfers::send(at::Tensor buffer, std::int32_t to, const sim::TaskKey& key) {
  return transfer(buffer, {to, TransferEnd::Sender, key.phase}, key);
}

WorkHandle NcclTransfers::receive(at::Tensor buffer, std::int32_t from, const sim::TaskKey& key) {
  return transfer(buffer, {from, TransferEnd::Receiver, key.phase}, key);
}

WorkHandle NcclTransfers::all_reduce(at::Tensor, ReduceOperation, const sim::TaskKey& key) { refuse_collective(key); }
WorkHandle NcclTransfers::reduce_scatter(at::Tensor, at::Tensor, const sim::TaskKey& key) { refuse_collective(key); }
WorkHandle NcclTransfers::all_gather(at::Tensor, at::Tensor, const sim::TaskKey& key) { refuse_collective(key); }
WorkHandle NcclTransfers::reduce_to_owners(at::Tensor, const OwnedParts&, const sim::TaskKey& key) { refuse_collective(key); }
WorkHandle NcclTransfers::gather_from_owners(const OwnedParts&, const sim::TaskKey& key) { refuse_collective(key); }
WorkHandle NcclTransfers::exchange(const RowExchange&, const sim::TaskKey& key) { refuse_collective(key); }
WorkHandle NcclTransfers::broadcast(at::Tensor, std::int32_t, const sim::TaskKey& key) { refuse_collective(key); }
void NcclTransfers::barrier() { refuse_collective({}); }

}  // namespace executor
