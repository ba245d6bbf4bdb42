// What a rank holds between two steps: parameters, gradients and optimizer state under the plan's sharding strategy.
//
//   bytes a parameter      parameters   gradients   AdamW (SGD)          16-bit: fp32 master weights are optimizer state
//   fp32, tf32                 4            4          8  (4)
//   fp64                       8            8         16  (8)            zero1 divides the third column by D,
//   bf16, fp16                 2            2         12  (8)            zero2 the second too, zero3 all
//
// A program's habits (software profile; the worker has none of them), bytes of 16-bit training:
//   accumulate_bytes         gradients, where they are wider than what is reduced
//   keeps_both_gradients     2 more for what the products made
//   keeps_buckets            ZeRO-0: these are the buckets; gradients come beside them in backward, until the step. Without copies they come alone
//   owner_gradient_bytes     more for each element whose optimizer state a rank owns
//   shards_masters           ZeRO-3: the weight is its master, 4 and 8 in place of 2 and 12
//   held_messages            messages between stages (and logits), of all microbatches
#pragma once

#include <vector>

#include "sim/plan/parallel_plan.h"
#include "sim/sharding/sharding.h"
#include "sim/timeline/timeline.h"

namespace sim {

bool shards_masters(const ParallelPlan& plan);
Bytes moment_bytes_per_element(const Workload& workload, const SoftwareStack& program);
Bytes optimizer_bytes_per_element(const Workload& workload, const SoftwareStack& program);  // moments, and masters

// Elements of a stage: all of them, those that one data rank owns, and those whose gradients are summed over microbatches after their
// reduction, in a place of their own beside the gradient that is being made.
struct StageElements {
  std::int64_t all = 0, owned = 0, summed_apart = 0;
  std::int64_t passing = 0;           // of those owned: their gradients come with their reduction and go with the step (unit_memory)
  std::int64_t stepped_matrices = 0;  // of blocks, whose states the rank has
  std::int64_t persistent = 0;        // stage 3: those of other ranks' shards that stay here all the same
  Bytes of_codecs{};                  // kept for what is sent encoded: errors, factors (sim/sharding/encoded.h)
  Bytes frozen{};                     // beside them, what a rank keeps of weights that are not trained
};
StageElements stage_elements(const ParallelPlan& plan, const std::vector<Bucket>& buckets);
// Without the padding of buckets: never more than the above. Makes no buckets.
StageElements unpadded_stage_elements(const ModelGraph& model, const ParallelPlan& plan, StageIndex stage);

// Of a bucket: masters and moments (or weights and moments), copied before a step that may be undone (PostValidation::Copies).
Bytes undo_bytes(const ParallelPlan& plan, const Bucket& bucket);

MemoryBreakdown resident_memory(const ParallelPlan& plan, const StageElements& elements);       // on the device, of units of one precision
MemoryBreakdown resident_memory(const ParallelPlan& plan, const std::vector<Bucket>& buckets);  // of a stage
Bytes passing_gradient(const ParallelPlan& plan,
                       LayerIndex layer);  // of an element of its, where gradients come in a backward and go with the step
// What an offloaded optimizer takes on the host for this rank: gradients as they come, the state, and the weights that go up (of 16 bits beside
// their masters, else the masters themselves).
Bytes host_memory(const ParallelPlan& plan, const StageElements& elements);
Bytes host_memory(const ParallelPlan& plan, const std::vector<Bucket>& buckets);
// Of a stage whose program holds messages: the logits of all microbatches, where it has the head. When the schedule has ended they are joined to one
// tensor of the same size beside them (torch.distributed.pipelining, _merge_outputs).
Bytes held_logits(const ParallelPlan& plan, StageIndex stage);
// What a rank holds beside them: the token ids and targets of its step, the table of rotary positions, messages that its program holds, what the matrix
// library works in.
void add_step_data(MemoryBreakdown& memory, const ParallelPlan& plan, StageIndex stage);

}  // namespace sim
