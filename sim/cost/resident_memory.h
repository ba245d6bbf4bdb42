// What a rank holds between two steps: parameters, gradients and optimizer state under the plan's sharding strategy. Used by memory_model
// and lower_bound.
//
//   bytes a parameter      parameters   gradients   AdamW (SGD)          16-bit: fp32 master weights are optimizer state
//   fp32, tf32                 4            4          8  (4)
//   fp64                       8            8         16  (8)            zero1 divides the third column by D,
//   bf16, fp16                 2            2         12  (8)            zero2 the second too, zero3 all
#pragma once

#include <vector>

#include "sim/plan/parallel_plan.h"
#include "sim/sharding/sharding.h"
#include "sim/timeline/timeline.h"

namespace sim {

Bytes optimizer_bytes_per_element(const Workload& workload);

// Elements of a stage: all of them, and those that one data rank owns.
struct StageElements {
  std::int64_t all = 0, owned = 0;
};
StageElements stage_elements(const std::vector<Bucket>& buckets);
// Without the padding of buckets: never more than the above. Makes no buckets.
StageElements unpadded_stage_elements(const ModelGraph& model, const ParallelPlan& plan, StageIndex stage);

MemoryBreakdown resident_memory(const ParallelPlan& plan, const StageElements& elements);

// Several microbatches are summed after their reduction: the sum needs a place of its own beside the gradient that is being made.
bool accumulates_apart(const ParallelPlan& plan);
// ZeRO-2, ZeRO-3: full gradients live from a bucket's first backward to its reduction only.
bool frees_full_gradients(const ParallelPlan& plan);

}  // namespace sim
