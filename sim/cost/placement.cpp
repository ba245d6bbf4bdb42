#include "sim/cost/placement.h"

#include <algorithm>

namespace sim {
namespace {

using Progression = RankSeries;

Progression members(const DeviceMesh& mesh, Rank member, MeshAxis axis, StageIndex copy) {
  const MeshCoordinate at = mesh.coordinate(member);
  const std::int32_t replicas = mesh.copies() * mesh.tensor;
  switch (axis) {
    case MeshAxis::Data: return {member.value() - at.data % mesh.shards() * mesh.tensor, mesh.tensor, mesh.shards()};
    case MeshAxis::Replica:
      return {member.value() - at.data / mesh.shards() * mesh.shards() * mesh.tensor, mesh.shards() * mesh.tensor, mesh.replicas};
    case MeshAxis::Reshard: return {member.value() - at.data % mesh.reshard * mesh.tensor, mesh.tensor, mesh.reshard};
    case MeshAxis::Distant: {
      const std::int32_t place = at.data % mesh.shards();
      return {member.value() - (place - place % mesh.reshard) * mesh.tensor, mesh.reshard * mesh.tensor, mesh.shards() / mesh.reshard};
    }
    case MeshAxis::Context: return {member.value() - at.data % mesh.context * mesh.tensor, mesh.tensor, mesh.context};
    case MeshAxis::ContextInner: return {member.value() - at.data % mesh.context_inner * mesh.tensor, mesh.tensor, mesh.context_inner};
    case MeshAxis::ContextOuter: {
      const std::int32_t place = at.data % mesh.context;
      return {member.value() - (place - place % mesh.context_inner) * mesh.tensor, mesh.context_inner * mesh.tensor, mesh.context_outer()};
    }
    case MeshAxis::Expert:
    case MeshAxis::ExpertData:
    case MeshAxis::ExpertTensor: return mesh.of_experts(member, axis);
    case MeshAxis::Tensor: return {member.value() - at.tensor, 1, mesh.tensor};
    case MeshAxis::Pipeline: return {member.value() % replicas, replicas, mesh.pipeline};
    case MeshAxis::Embedding:
      if (mesh.pipeline == 1) return {member.value(), 1, 1};
      return {member.value() % replicas, replicas * copy.value(), 2};
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

// Whether nodes hold whole blocks of neighboring ranks, or blocks whole nodes: of tensor groups, of a sample's parts, of shards, of stages.
bool fills_nodes_evenly(const DeviceMesh& mesh, std::int32_t per_node) {
  const auto is_whole = [&](std::int64_t block) { return block % per_node == 0 || per_node % block == 0; };
  const std::int64_t tensor = mesh.tensor;
  return mesh.ranks() <= per_node ||
         (is_whole(tensor) && is_whole(tensor * mesh.context) && is_whole(tensor * mesh.context_inner) && is_whole(mesh.expert_cut()) &&
          is_whole(std::int64_t{mesh.expert_cut()} * mesh.expert) && is_whole(tensor * mesh.reshard) && is_whole(tensor * mesh.shards()) &&
          is_whole(tensor * mesh.copies()));
}

// Of those that do not hold all devices.
OfPods<std::int32_t> devices_per_pod(const Cluster& cluster) {
  const std::vector<PodLevel>& pods = cluster.hardware.inter_node.pods;
  OfPods<std::int32_t> devices{};
  for (std::size_t level = 0; level < pods.size(); ++level) {
    const std::int64_t held = std::int64_t{pods[level].nodes} * std::max(1, cluster.hardware.devices_per_node);
    if (held < cluster.devices) devices[level] = static_cast<std::int32_t>(held);
  }
  return devices;
}

}  // namespace

Placement::Placement(const ParallelPlan& plan)
    : mesh_(plan.mesh),
      copy_(plan.ties_across_stages() ? plan.reader_stage() : StageIndex(plan.mesh.pipeline - 1)),
      devices_(plan.cluster.devices),
      devices_per_node_(std::max(1, plan.cluster.hardware.devices_per_node)),
      nodes_(plan.cluster.nodes()),
      devices_per_pod_(devices_per_pod(plan.cluster)),
      is_even_(fills_evenly()) {}

bool Placement::fills_evenly() const {
  const auto evenly = [&](std::int32_t joined) { return joined == 0 || fills_nodes_evenly(mesh_, joined); };
  return evenly(devices_per_node_) && std::ranges::all_of(devices_per_pod_, evenly);
}

// joined(devices): members among so many neighboring devices.
template <class Joined>
OfPods<std::int32_t> Placement::in_pods(const Joined& joined) const {
  OfPods<std::int32_t> members{};
  for (std::size_t level = 0; level < kPodLevels; ++level)
    if (devices_per_pod_[level] > 0) members[level] = joined(devices_per_pod_[level]);
  return members;
}

bool Placement::stands_for(const GraphDevice& device, const Fold& fold, Rank rank) const {
  return device_of(fold, mesh_, rank) == device_of(fold, mesh_, device.representative);
}

template <class GroupOf>
Slowest Placement::slowest(const GraphDevice& device, const Fold& fold, const GroupOf& group_of) const {
  Slowest found{.rank = device.representative, .group = group_of(device.representative), .crossing = 0};
  if (is_even_ || device.multiplicity == 1) {
    if (found.group.spans_nodes()) found.crossing = alike_on_node(device, fold);
    return found;
  }
  const std::int32_t size = mesh_.copies() * mesh_.tensor, begin = device.stage.value() * size;
  const auto each_rank = [&](const auto& look) {
    for (Rank rank(begin); rank.value() < begin + size; ++rank)
      if (stands_for(device, fold, rank)) look(rank, group_of(rank));
  };
  each_rank([&](Rank rank, const GroupPlacement& group) {
    if (std::pair(group.on_node, group.in_pods) < std::pair(found.group.on_node, found.group.in_pods))
      found = {.rank = rank, .group = group, .crossing = 0};
  });
  each_rank(
      [&](Rank rank, const GroupPlacement& group) { found.crossing += node(rank) == node(found.rank) && group.spans_nodes() ? 1 : 0; });
  return found;
}

Slowest Placement::slowest_group(const GraphDevice& device, const Fold& fold, MeshAxis axis) const {
  return slowest(device, fold, [&](Rank rank) { return group(rank, axis); });
}

// Ranks of a stage are equally far from their peers.
Slowest Placement::slowest_pair(const GraphDevice& device, const Fold& fold, Rank peer) const {
  const std::int32_t distance = peer.value() - device.representative.value();
  return slowest(device, fold, [&](Rank rank) { return pair(rank, Rank(rank.value() + distance)); });
}

GroupPlacement Placement::group(Rank member, MeshAxis axis) const {
  const Progression all = members(mesh_, member, axis, copy_);
  const auto neighbors = [&](std::int32_t joined) {
    const std::int32_t begin = member.value() / joined * joined;
    return count_within(all, begin, begin + joined);
  };
  return {all.count, neighbors(devices_per_node_), in_pods(neighbors)};
}

GroupPlacement Placement::pair(Rank a, Rank b) const {
  const auto joined = [&](std::int32_t devices) { return a.value() / devices == b.value() / devices ? 2 : 1; };
  return {2, joined(devices_per_node_), in_pods(joined)};
}

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
