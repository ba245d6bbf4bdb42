// One communicator for each axis of the device mesh, as one rank sees them. Made once, in the same order on every rank; groups of one rank
// are solo.
#pragma once

#include <array>
#include <memory>

#include "executor/communication/transport.h"
#include "sim/plan/device_mesh.h"

namespace executor {

class MeshCommunicators {
 public:
  // Collective over all ranks of the job. A mesh of one rank needs no transport. Throws sim::InputError if the job has another number of ranks.
  MeshCommunicators(const sim::DeviceMesh& mesh, Transport transport);
  MeshCommunicators(const MeshCommunicators&) = delete;
  MeshCommunicators& operator=(const MeshCommunicators&) = delete;

  // Data, Replica, Tensor, Context and its two levels, Expert, ExpertData, ExpertTensor, Reshard, Embedding: ranks count inside the group. World and Pipeline: ranks are those of the mesh (transfers name the peer's own rank).
  Communicator& of(sim::MeshAxis axis);
  sim::Rank rank() const { return rank_; }
  const sim::DeviceMesh& mesh() const { return mesh_; }
  Ledger take_ledger();  // what was started since the last call, on all axes, in order
  // Around what a device's graph records, and behind each replay of it: as NcclSession. Without NCCL nothing.
  void begin_recording();
  void end_recording();
  void replayed();

 private:
  std::unique_ptr<Communicator> make(sim::MeshAxis axis);

  sim::DeviceMesh mesh_;
  Transport transport_;
  sim::Rank rank_{0};
  Ledger ledger_;
  std::array<std::unique_ptr<Communicator>, std::size(sim::kMeshAxisNames)> axes_;
};

}  // namespace executor
