#include "sim/cost/placement.h"

#include <algorithm>

namespace sim {
namespace {

// Ranks first, first + stride, ...
struct Progression {
  std::int32_t first = 0, stride = 1, count = 1;
};

Progression members(const DeviceMesh& mesh, Rank member, MeshAxis axis) {
  const MeshCoordinate at = mesh.coordinate(member);
  const std::int32_t replicas = mesh.copies() * mesh.tensor;
  switch (axis) {
    case MeshAxis::Data: return {member.value() - at.data % mesh.shards() * mesh.tensor, mesh.tensor, mesh.shards()};
    case MeshAxis::Replica:
      return {member.value() - at.data / mesh.shards() * mesh.shards() * mesh.tensor, mesh.shards() * mesh.tensor, mesh.replicas};
    case MeshAxis::Context: return {member.value() - at.data % mesh.context * mesh.tensor, mesh.tensor, mesh.context};
    case MeshAxis::Tensor: return {member.value() - at.tensor, 1, mesh.tensor};
    case MeshAxis::Pipeline: return {member.value() % replicas, replicas, mesh.pipeline};
    case MeshAxis::Embedding:
      if (mesh.pipeline == 1) return {member.value(), 1, 1};
      return {member.value() % replicas, replicas * (mesh.pipeline - 1), 2};
    case MeshAxis::World: return {0, 1, mesh.ranks()};
    case MeshAxis::None: break;
  }
  return {member.value(), 1, 1};
}

// How many of them lie in [begin, end).
std::int32_t count_within(const Progression& ranks, std::int32_t begin, std::int32_t end) {
  const auto below = [&](std::int32_t limit) {
    const std::int32_t reach = limit - ranks.first;
    return reach <= 0 ? 0 : std::min(ranks.count, (reach + ranks.stride - 1) / ranks.stride);
  };
  return below(end) - below(begin);
}

}  // namespace

Placement::Placement(const ParallelPlan& plan)
    : mesh_(plan.mesh),
      devices_(plan.cluster.devices),
      devices_per_node_(std::max(1, plan.cluster.hardware.devices_per_node)),
      nodes_(plan.cluster.nodes()) {}

GroupPlacement Placement::group(Rank member, MeshAxis axis) const {
  const Progression all = members(mesh_, member, axis);
  const std::int32_t begin = node(member) * devices_per_node_;
  return {all.count, count_within(all, begin, begin + devices_per_node_)};
}

GroupPlacement Placement::pair(Rank a, Rank b) const { return {2, node(a) == node(b) ? 2 : 1}; }

std::int32_t Placement::alike_on_node(const GraphDevice& device, const Fold& fold) const {
  const DeviceId own = device_of(fold, mesh_, device.representative);
  const std::int32_t begin = node(device.representative) * devices_per_node_;
  std::int32_t count = 0;
  for (Rank rank(begin); rank.value() < std::min(begin + devices_per_node_, mesh_.ranks()); ++rank)
    count += device_of(fold, mesh_, rank) == own ? 1 : 0;
  return count;
}

std::int32_t Placement::busy_ranks() const { return std::min(devices_per_node_, devices_); }

}  // namespace sim
