// Time of collectives and transfers of a run: inside a node by its links, between nodes by the adapters that groups of a node share.
// Used by step_estimate. Overlap with computation is not decided here.
#pragma once

#include <vector>

#include "sim/collective/collective.h"
#include "sim/estimate/device.h"
#include "sim/cluster/software_stack.h"

namespace sim {

struct RankGroup {
  double ranks = 1;        // members
  double stride = 1;       // ranks between two members
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
  // Of what leaves a node: the share that crosses where copies are made behind the next door, and of the sold rate; 0: that of collectives.
  struct Crossing {
    double copies = 1, rate = 0;
  };
  double all_to_all(double sent, const RankGroup& group) const { return all_to_all(sent, group, {1, 0}); }  // by one rank to all others
  double all_to_all(double sent, const RankGroup& group, const Crossing& crossing) const;
  double nodes(const RankGroup& group) const { return group.ranks / members_on_node(group); }
  double transfer(double payload, const RankGroup& pair) const;   // all ranks of the node send at once
  double link_rate() const { return link_rate_; }
  double node_rate() const { return node_rate_; }

 private:
  double members_on_node(const RankGroup& group) const;
  double start(CollectiveKind kind, const RankGroup& group, double payload) const;

  double link_rate(double members) const;

  Behavior behavior_;
  std::vector<double> mesh_rates_;  // of groups of 2, 3 ... where no switch joins all GPUs; empty: there is one
  double link_rate_ = 0;        // of a GPU, one direction
  double node_rate_ = 0, sold_ = 0;  // of a node, one direction
  double gpus_per_node_ = 1, gain_ = 1, start_ = 0, fill_ = 0, hop_ = 0;
};

// Where a program lets a token cross to a node once (DeepEP), it crosses to as many nodes as its experts are spread over.
struct TokenSpread {
  double nodes = 1, copies = 1;   // among which its copies, one an expert, are dealt out
};
LinkClock::Crossing token_crossing(const TokenSpread& spread, const SoftwareStack& stack);

// Steps of a ring of attention are slower than one kernel over all keys, by what the program loses between them.
inline double ring_slowdown(const SoftwareStack& stack, double ranks) { return 1 + stack.ring_overhead * (1 - 1 / ranks); }

}  // namespace sim
