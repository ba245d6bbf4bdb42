// Moments in managed memory (ParallelPlan::paged_optimizer): no allocator counts them, and the driver moves them between the device and its host.
#pragma once

#include "sim/plan/parallel_plan.h"
#include "sim/sharding/sharding.h"

namespace sim {

Bytes managed_bytes(const ParallelPlan& plan, const Bucket& bucket);  // of a bucket, on the rank that steps it
// What an update waits for where its moments lie on the host: they come in while those of others go out, each way of the host's link.
Seconds paging_time(const ParallelPlan& plan, const Bucket& bucket);

}  // namespace sim
