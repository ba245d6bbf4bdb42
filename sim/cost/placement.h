// Where the ranks of a group and of a graph device stand on the nodes: which links a task loads, and for how many ranks it stands.
// Arithmetic alone (ranks of a group are equally far apart), because the planner asks for thousands of plans; tests hold it against
// Topology and DeviceMesh::group.
#pragma once

#include "sim/cluster/pods.h"
#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/task_graph.h"

namespace sim {

struct GroupPlacement {
  std::int32_t ranks = 1;
  std::int32_t on_node = 1;        // of them on the node of the member asked about
  OfPods<std::int32_t> in_pods{};  // and in its pods; 0: there is one for all
  bool spans_nodes() const { return on_node < ranks; }
  bool spans_pods() const {
    return most_of_pods(in_pods, ranks, [](std::size_t) { return 1; }) > 0;
  }
};

// Of the ranks that a graph device stands for the one whose group is scattered most: all wait for it. Where nodes are filled evenly
// that is its representative.
struct Slowest {
  Rank rank;
  GroupPlacement group;
  std::int32_t crossing =
      0;  // ranks that the device stands for, on the node of `rank`, whose groups leave it: they load its uplink together
};

class Placement {
 public:
  explicit Placement(const ParallelPlan& plan);

  GroupPlacement group(Rank member, MeshAxis axis) const;
  GroupPlacement pair(Rank a, Rank b) const;
  Slowest slowest_group(const GraphDevice& device, const Fold& fold, MeshAxis axis) const;
  Slowest slowest_pair(const GraphDevice& device, const Fold& fold, Rank peer) const;  // peer: of the representative
  // Ranks that the device stands for, on its representative's node: what they do alike loads that node's links together.
  std::int32_t alike_on_node(const GraphDevice& device, const Fold& fold) const;

  // Ranks of a stage differ in which node they are on, but not in how many of their groups' members are there: folded they are priced as they
  // are one by one.
  bool is_even() const { return is_even_; }
  std::int32_t busy_ranks() const;  // of a node
  LinkId port(Rank rank) const { return LinkId(rank.value()); }
  LinkId uplink(Rank rank) const { return LinkId(devices_ + node(rank)); }
  LinkId cores(Rank rank) const { return LinkId(devices_ + nodes_ + node(rank)); }
  std::int32_t num_links() const { return devices_ + 2 * nodes_; }
  // What kernels and the collectives beside them share: memory and multiprocessors. Behind the other links, where a program is slowed by it.
  LinkId device(Rank rank) const { return LinkId(num_links() + rank.value()); }

 private:
  std::int32_t node(Rank rank) const { return rank.value() / devices_per_node_; }
  bool fills_evenly() const;
  template <class Joined>
  OfPods<std::int32_t> in_pods(const Joined& joined) const;
  bool stands_for(const GraphDevice& device, const Fold& fold, Rank rank) const;
  template <class GroupOf>
  Slowest slowest(const GraphDevice& device, const Fold& fold, const GroupOf& group_of) const;

  DeviceMesh mesh_;
  StageIndex copy_;  // of a token table
  std::int32_t devices_, devices_per_node_, nodes_;
  OfPods<std::int32_t> devices_per_pod_{};  // 0: there is one for all
  bool is_even_;
};

}  // namespace sim
