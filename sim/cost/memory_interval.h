// How far the simulated memory of a device may be off: the interval that holds four of five measured ones. Its width is what such predictions
// missed before, wider by what is new in a program or a plan (memory_novelty.h). On a GPU a program's allocator and libraries hold more than the tensors
// (memory_beside), which the interval lies around; of our worker that is estimated, and the interval reaches up by it.
#pragma once

#include <string_view>

#include "sim/plan/parallel_plan.h"
#include "sim/timeline/timeline.h"

namespace sim {

struct MemoryInterval {
  double half_width = 0;   // of what is occupied and held, relative to it
  Bytes held{};            // beside tensors: what the allocator has no use for, workspaces
  Bytes beside{};          // more that there may be
  std::string_view basis;  // what the width rests on, for people
  Bytes low(Bytes occupied) const;
  Bytes high(Bytes occupied) const;
  double chance_above(Bytes occupied, Bytes limit) const;  // that a device which should hold `occupied` needs more than `limit`
};

MemoryInterval memory_interval(const ParallelPlan& plan, const MemoryBreakdown& at_peak);
// What a program's allocator may hold of gradients that tensor ranks have reduced: part of `beside`.
Bytes held_reductions(const ParallelPlan& plan);

struct Risk {
  Bytes limit{};      // of a device
  double chance = 0;  // to need more than that: as much is accepted
};
// What a device may occupy at most at such a chance, were there nothing beside its tensors: above it every plan on the cluster has a higher one.
Bytes most_occupied(const Cluster& cluster, const Risk& risk);

}  // namespace sim
