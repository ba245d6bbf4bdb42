// Time of collectives and transfers of a run: inside a node by its links, between nodes by the adapters that groups of a node share.
// Used by step_estimate. Overlap with computation is not decided here.
#pragma once

#include "sim/collective/collective.h"
#include "sim/estimate/device.h"
#include "sim/cluster/software_stack.h"

namespace sim {

struct RankGroup {
  double ranks = 1;        // members
  double stride = 1;       // ranks between two members
};

inline constexpr double kHiddenByOverlap = 0.8;   // of tensor collectives that are split along a product
inline constexpr double kBucketTail = 0.06;       // of an overlapped exchange: the last bucket has nothing left to hide behind

// How often the payload crosses a member's link.
double crossings(CollectiveKind kind, const RankGroup& group);

class LinkClock {
 public:
  LinkClock(const Device& device, const SoftwareStack& stack, const Machine& machine);

  // payload: the whole buffer, as in CollectiveShape.
  double collective(CollectiveKind kind, double payload, const RankGroup& group) const;
  double all_to_all(double sent, const RankGroup& group) const;   // sent by one rank to the others together
  double transfer(double payload, const RankGroup& pair) const;   // all ranks of the node send at once
  double link_rate() const { return link_rate_; }
  double node_rate() const { return node_rate_; }

 private:
  double members_on_node(const RankGroup& group) const;
  double start(CollectiveKind kind, const RankGroup& group, double payload) const;

  double link_rate_ = 0;        // of a GPU, one direction
  double node_rate_ = 0;        // of a node, one direction
  double gpus_per_node_ = 1, gain_ = 1, start_ = 0, fill_ = 0, hop_ = 0;
};

}  // namespace sim
