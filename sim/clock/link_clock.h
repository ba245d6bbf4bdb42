// Time of collectives and transfers of a run. Where switches sum, inside a node (NVLink SHARP) or between nodes (InfiniBand SHARP), each rank sends and
// gets the whole payload of an all-reduce once; a ring's ranks send it nearly twice. Otherwise: inside a node by its links, between nodes by the adapters that groups of a node share, between pods by
// 1 / oversubscription of the adapters of a pod, which all of its groups that leave it share; of several levels of pods the slowest counts.
// Overlap with computation is not decided here.
#pragma once

#include <string_view>
#include <vector>

#include "sim/clock/device.h"
#include "sim/cluster/pods.h"
#include "sim/cluster/software_stack.h"
#include "sim/collective/collective.h"
#include "sim/model/expert_form.h"

namespace sim {

struct Machine {
  std::int64_t gpus_per_node = 1;
  double link_gbytes = 0;    // of a GPU inside its node, both directions together; 0: as in the profile
  double network_gbits = 0;  // of a node, one direction; 0: as in the profile
};

struct RankGroup {
  double ranks = 1;          // members
  double stride = 1;         // ranks between two members
  OfPods<double> in_pods{};  // members in the pods of one of them; 0: there are none
};

// How often the payload crosses a member's link.
double crossings(CollectiveKind kind, const RankGroup& group);

// Of a tensor collective that is sent in as many pieces as it has ranks, each beside the product of another: one piece has nothing beside it
// (rings of user buffers in TransformerEngine).
inline double exposed_along_product(double ranks) { return 1 / ranks; }

class LinkClock {
 public:
  LinkClock(const Device& device, const SoftwareStack& stack, const Machine& machine);

  // payload: the whole buffer, as in CollectiveShape.
  double collective(CollectiveKind kind, double payload, const RankGroup& group) const;
  // Of what a rank sends to all others: how many copies of a token it is. Where a program lets a token cross to a node once and be copied there
  // (DeepEP), `once` is the share of the sold rate that this reaches between nodes; 0: each copy travels by itself, as in any collective.
  // Copies go by chance, or to neighbors among `in_turn` experts.
  struct Copies {
    double each = 1, once = 0, in_turn = 0;
  };
  double all_to_all(double sent, const RankGroup& group) const { return all_to_all(sent, group, {}); }  // bytes, by one rank to all others
  double all_to_all(double sent, const RankGroup& group, const Copies& copies) const;
  double leaving(double sent, const RankGroup& group, const Copies& copies) const;  // its node, of what a rank sends
  double transfer(double payload, const RankGroup& pair) const;                     // all ranks of the node send at once
  // What the time of such a collective is taken from.
  std::string_view algorithm(CollectiveKind kind, const RankGroup& group) const;
  double link_rate() const { return link_rate_; }
  double node_rate() const { return node_rate_; }
  double crossing(CollectiveKind kind, double payload, const RankGroup& group) const;  // bytes that a rank sends
  double hop_between_pods(double payload, const RankGroup& group) const;               // of a ring; 0: it leaves none

 private:
  bool sums_between(CollectiveKind kind, const RankGroup& group) const;  // in switches between nodes
  double members_on_node(const RankGroup& group) const;
  double leaving_pod(double sent, const RankGroup& group, const Copies& copies) const;  // times what the pod's way out is slower
  double start(CollectiveKind kind, const RankGroup& group, double payload) const;

  double link_rate(double members) const;
  double sum_inside(double payload, const RankGroup& group) const;  // an all-reduce among members of a node
  double sum_in_switch(double payload) const;
  double sum_between(double payload, const RankGroup& group) const;  // what it takes of the links inside where switches between nodes sum
  double inside(double sent, const RankGroup& group, const Copies& copies) const;  // over the links of its node

  Behavior behavior_;
  std::vector<double> mesh_rates_;   // of groups of 2, 3 ... where no switch joins all GPUs; empty: there is one
  double link_rate_ = 0;             // of a GPU, one direction
  double node_rate_ = 0, sold_ = 0;  // of a node, one direction
  OfPods<double> oversubscription_{};
  bool sums_ = false;  // in switches between nodes
  double gpus_per_node_ = 1, gain_ = 1, start_ = 0, fill_ = 0, hop_ = 0;
};

// Tokens on their way to their experts. With a capacity they fill slots, each of which travels.
LinkClock::Copies token_copies(const ExpertForm& experts, const SoftwareStack& stack, double once);

// Steps of a ring of attention are slower than one kernel over all keys, by what the program loses between them.
inline double ring_slowdown(const SoftwareStack& stack, double ranks) { return 1 + stack.ring_overhead * (1 - 1 / ranks); }

}  // namespace sim
