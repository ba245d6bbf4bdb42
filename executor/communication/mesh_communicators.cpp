#include "executor/communication/mesh_communicators.h"

#include <fmt/format.h>

#include <utility>

#include "executor/communication/solo_communicator.h"
#include "sim/units/at.h"
#include "sim/units/input_error.h"

namespace executor {
namespace {

constexpr sim::MeshAxis kAxes[] = {
    sim::MeshAxis::World,   sim::MeshAxis::Data,         sim::MeshAxis::Tensor,       sim::MeshAxis::Pipeline,    sim::MeshAxis::Embedding,
    sim::MeshAxis::Replica, sim::MeshAxis::Expert,       sim::MeshAxis::ExpertData,   sim::MeshAxis::Context,     sim::MeshAxis::Reshard,
    sim::MeshAxis::Distant, sim::MeshAxis::ContextInner, sim::MeshAxis::ContextOuter, sim::MeshAxis::ExpertTensor};

// How many ranks the largest group along an axis has: the same on every rank, so all decide alike whether a group is made.
std::int32_t degree(const sim::DeviceMesh& mesh, sim::MeshAxis axis) {
  switch (axis) {
    case sim::MeshAxis::Data: return mesh.shards();
    case sim::MeshAxis::Replica: return mesh.replicas;
    case sim::MeshAxis::Expert: return mesh.expert;
    case sim::MeshAxis::ExpertData: return mesh.expert_copies();
    case sim::MeshAxis::ExpertTensor: return mesh.cuts_experts_apart() ? mesh.expert_cut() : 1;
    case sim::MeshAxis::Tensor: return mesh.tensor;
    case sim::MeshAxis::Reshard: return mesh.reshard;
    case sim::MeshAxis::Distant: return mesh.reshard > 1 ? mesh.shards() / mesh.reshard : 1;
    case sim::MeshAxis::Context: return mesh.context;
    case sim::MeshAxis::ContextInner: return mesh.context_inner;
    case sim::MeshAxis::ContextOuter: return mesh.context_outer();
    case sim::MeshAxis::Pipeline:
    case sim::MeshAxis::Embedding: return mesh.pipeline;
    default: return mesh.ranks();
  }
}

std::vector<sim::Rank> members(const sim::DeviceMesh& mesh, sim::Rank rank, sim::MeshAxis axis) {
  const auto stage = mesh.coordinate(rank).stage.value();
  const bool inner = stage != 0 && stage != mesh.pipeline - 1;
  if (axis == sim::MeshAxis::Embedding && inner) return {rank};
  return mesh.group(rank, axis);
}

}  // namespace

MeshCommunicators::MeshCommunicators(const sim::DeviceMesh& mesh, Transport transport) : mesh_(mesh), transport_(std::move(transport)) {
  const auto [rank, ranks] = transport_.place();
  if (ranks != mesh.ranks()) {
    throw sim::InputError("", {{"/mesh", fmt::format("has {} ranks, but {} were started", mesh.ranks(), ranks),
                                fmt::format("start it with:  meshwright run, or mpirun -np {}", mesh.ranks())}});
  }
  rank_ = sim::Rank(rank);
  for (const sim::MeshAxis axis : kAxes) sim::at(axes_, axis) = make(axis);
}

std::unique_ptr<Communicator> MeshCommunicators::make(sim::MeshAxis axis) {
  if (degree(mesh_, axis) == 1) return std::make_unique<SoloCommunicator>();
  if (axis == sim::MeshAxis::Pipeline) return transport_.make_transfers(mesh_, &ledger_);
  const auto name = std::string(sim::at(sim::kMeshAxisNames, axis));
  return transport_.make(members(mesh_, rank_, axis), name, &ledger_);
}

Communicator& MeshCommunicators::of(sim::MeshAxis axis) {
  auto& communicator = sim::at(axes_, axis);
  if (!communicator) throw std::invalid_argument("a task without a group does not communicate");
  return *communicator;
}

void MeshCommunicators::begin_recording() {
  if (transport_.nccl) transport_.nccl->begin_recording();
}
void MeshCommunicators::end_recording() {
  if (transport_.nccl) transport_.nccl->end_recording();
}
void MeshCommunicators::replayed() {
  if (transport_.nccl) transport_.nccl->replayed();
}

Ledger MeshCommunicators::take_ledger() { return std::exchange(ledger_, {}); }

}  // namespace executor
