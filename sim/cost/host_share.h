// How much of the time of a block of experts its host takes: launches of dropless experts, eager modules, and the waits for counts of tokens are many and
// small, and what a host needs for them differs between machines more than what a device needs for its kernels.
#pragma once

#include "sim/plan/parallel_plan.h"

namespace sim {

// Of one block of experts and one microbatch, all its passes: the host's time to issue it over the device's time for it, exchanges with it, at most 1 (a step
// is never faster than its host). 0: no experts, no model of the host, or nothing that drains it.
double host_share(const ParallelPlan& plan);

// How much longer than predicted a step may take because its host is slower than the one that the profile of its program was read off, as a share.
// Two containers of one vendor ran one plan of experts on one machine 1.8 times apart (Qwen3 30B on 16 H100, Megatron-Bridge 26.02 and 26.02.01), and predictions
// lie with the faster; Moonlight on 8 H100 took 1.9 times what its like takes a layer. A device that was the longer by more than that hides it.
double slow_host(double host_share);

}  // namespace sim
