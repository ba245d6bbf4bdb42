// Parts of a batch for devices that are not alike (Cluster::groups): a data rank takes its group's share of each microbatch, so that microbatches stay as many,
// and ranks as many tasks; the mean over data ranks is microbatch_size. Stages that stand on unlike devices have equal shares: their work is dealt by the cut.
//
//   groups 8 x A100 (share 1), 8 x H100 (share 3), data 16, microbatch 2:   1 sample on ranks 0 to 7, 3 on ranks 8 to 15
#pragma once

#include <cstdint>

#include "sim/plan/parallel_plan.h"

namespace sim {

// Samples of a microbatch that a data rank on such devices takes; 0: they are no whole samples.
std::int64_t samples_of(const ParallelPlan& plan, const DeviceGroup& group);

// The plan as if all devices were of that group and all data ranks had its share: its ranks do, take and hold what they do in it.
ParallelPlan as_of_group(const ParallelPlan& plan, const DeviceGroup& group);

}  // namespace sim
