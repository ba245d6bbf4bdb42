// How much of the time of a block its host takes: launches of dropless experts, eager modules, and the waits for counts of tokens are many and small, and
// what a host needs for them differs between machines more than what a device needs for its kernels.
#pragma once

#include "sim/plan/parallel_plan.h"

namespace sim {

// Of the last block and one microbatch, all its passes: the host's time to issue it over the device's time for it, exchanges with it; above 1 the device
// waits. 0: no blocks, or no model of the host.
double host_share(const ParallelPlan& plan);

// Nobody read what this program's modules cost its host, and no published row was fitted to it: its constants are those of other eager programs.
bool is_unread(const SoftwareStack& stack);

// How much longer, and how much shorter, than predicted a step may take because its host is not the one that the profile of its program was read off, as
// shares of the prediction. A device that was the longer by more than hosts are apart hides it (profiles/behavior, hosts_apart and what follows).
struct HostDoubt {
  double slower = 0, faster = 0;
};
HostDoubt host_doubt(const ParallelPlan& plan);

}  // namespace sim
