#include "sim/engine/disturbance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "sim/units/unit_text.h"

namespace sim {
namespace {

struct Apart {
  std::set<std::int32_t> data, tensor;
};

// The ranks behind a link: a port's own, all of an uplink's (or of shared cores') node.
std::vector<Rank> ranks_behind(LinkId link, const Cluster& cluster) {
  if (link.value() < cluster.devices) return {Rank(link.value())};
  const NodeIndex node((link.value() - cluster.devices) % cluster.nodes());
  std::vector<Rank> ranks;
  for (Rank rank(0); rank.value() < cluster.devices; ++rank)
    if (cluster.node_of(rank) == node) ranks.push_back(rank);
  return ranks;
}

bool spans_nodes(const ParallelPlan& plan) { return plan.mesh.tensor > plan.cluster.devices_per_node(); }

// Ranks that share a sample wait for each other inside it: they stand apart together.
void insert_sample(Apart& apart, const DeviceMesh& mesh, Rank rank) {
  const std::int32_t data = mesh.coordinate(rank).data, first = data - data % mesh.context;
  for (std::int32_t member = first; member < first + mesh.context; ++member) apart.data.insert(member);
}

// Behind an uplink all tensor ranks of a replica are alike, unless they take several nodes.
void set_apart(Apart& apart, const ParallelPlan& plan, LinkId link) {
  const std::vector<Rank> ranks = ranks_behind(link, plan.cluster);
  for (const Rank rank : ranks) {
    insert_sample(apart, plan.mesh, rank);
    if (ranks.size() == 1 || spans_nodes(plan)) apart.tensor.insert(plan.mesh.coordinate(rank).tensor);
  }
}

// Who shares a node with a replica that stands apart loads its links: stands apart, too, in all stages; until nobody is added.
void add_neighbors(Apart& apart, const ParallelPlan& plan) {
  const DeviceMesh& mesh = plan.mesh;
  std::set<std::int32_t> nodes;
  for (Rank rank(0); rank.value() < mesh.ranks(); ++rank) {
    const MeshCoordinate at = mesh.coordinate(rank);
    if (apart.data.count(at.data) > 0 && (!spans_nodes(plan) || apart.tensor.count(at.tensor) > 0))
      nodes.insert(plan.cluster.node_of(rank).value());
  }
  for (Rank rank(0); rank.value() < mesh.ranks(); ++rank) {
    if (nodes.count(plan.cluster.node_of(rank).value()) == 0) continue;
    insert_sample(apart, mesh, rank);
    if (spans_nodes(plan)) apart.tensor.insert(mesh.coordinate(rank).tensor);
  }
}

// Replicas on other devices than most have work and times of their own.
void set_groups_apart(Apart& apart, const ParallelPlan& plan) {
  const DeviceMesh& mesh = plan.mesh;
  using Devices = std::vector<const DeviceGroup*>;  // of its stages
  std::map<Devices, std::vector<Rank>> replicas;
  std::vector<Devices> order;
  for (std::int32_t data = 0; data < mesh.copies() && !plan.cluster.groups.empty(); ++data) {
    Devices devices;
    for (StageIndex stage(0); stage.value() < mesh.pipeline; ++stage)
      devices.push_back(&group_of(plan.cluster.groups, mesh.rank_of({.data = data, .stage = stage})));
    replicas[devices].push_back(mesh.rank_of({.data = data}));
    if (replicas[devices].size() == 1) order.push_back(devices);
  }
  if (order.size() < 2) return;
  const auto most = std::ranges::max_element(order, {}, [&](const Devices& one) { return replicas[one].size(); });
  for (const Devices& one : order)
    if (one != *most)
      for (const Rank rank : replicas[one]) insert_sample(apart, mesh, rank);
}

std::string text_of(const SlowRank& slow, const ParallelPlan& plan) {
  return fmt::format("rank {} computes {:.4g} times as long (stage {}, node {})", slow.rank.value(), slow.factor,
                     plan.mesh.coordinate(slow.rank).stage.value(), plan.cluster.node_of(slow.rank).value());
}

}  // namespace

std::vector<std::string> to_text(const Disturbances& disturbances, const ParallelPlan& plan) {
  std::vector<std::string> lines;
  for (const SlowRank& slow : disturbances.ranks) lines.push_back(text_of(slow, plan));
  if (disturbances.links.empty()) return lines;
  const Topology topology(plan.cluster);
  for (const SlowLink& slow : disturbances.links)
    lines.push_back(fmt::format("{} carries {} of its bandwidth", topology.links()[slow.link.position()].name, percent(slow.capacity)));
  return lines;
}

Fold fold_of(const Disturbances& disturbances, const ParallelPlan& plan) {
  Apart apart;
  for (const SlowRank& slow : disturbances.ranks) set_apart(apart, plan, LinkId(slow.rank.value()));  // its port
  for (const SlowLink& slow : disturbances.links) set_apart(apart, plan, slow.link);
  set_groups_apart(apart, plan);
  if (apart.data.empty()) return Fold::Symmetric;
  for (std::size_t known = 0; known < apart.data.size() + apart.tensor.size();) {
    known = apart.data.size() + apart.tensor.size();
    add_neighbors(apart, plan);
  }
  // Groups of shards differ in which replicas they hold, those of experts in which experts, neighbours after forward in which neighbours: every one of them stands alone.
  if (plan.mesh.cuts_experts_apart()) return Fold::None;  // their groups go across tensor ranks
  if (plan.mesh.shards() != plan.mesh.copies() || plan.mesh.expert > 1 || plan.mesh.reshard > 1)
    return {{.all_apart = true, .apart = {}}, {.all_apart = false, .apart = {apart.tensor.begin(), apart.tensor.end()}}};
  return {{.all_apart = false, .apart = {apart.data.begin(), apart.data.end()}},
          {.all_apart = false, .apart = {apart.tensor.begin(), apart.tensor.end()}}};
}

Slowdown::Slowdown(const TaskGraph& graph, const Disturbances& disturbances) {
  if (disturbances.ranks.empty()) return;
  for (const GraphDevice& device : graph.devices()) {
    const auto slow = std::find_if(disturbances.ranks.begin(), disturbances.ranks.end(),
                                   [&](const SlowRank& one) { return one.rank == device.representative; });
    factors_.push_back(slow == disturbances.ranks.end() ? 1.0 : slow->factor);
  }
}

const TaskCost& Slowdown::cost(const Task& task, const TaskCost& cost) {
  if (factors_.empty() || is_communication(task.key.operation) || factors_[task.device.position()] == 1.0) return cost;
  const auto [entry, is_new] = slowed_.try_emplace(&cost, cost);
  if (is_new) entry->second.duration = SimTime(std::llround(static_cast<double>(cost.duration.count()) * factors_[task.device.position()]));
  return entry->second;
}

}  // namespace sim
