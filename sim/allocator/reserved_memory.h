// What a GPU's caching allocator reserves for a device of a plan: its first steps are replayed, tensor by tensor, in the order in which the host issues them.
// More than tensors occupy at their fullest moment, since blocks that are free are not always large enough for what comes next; states of the optimizer
// come when the first step ends, into blocks that activations left; where they are stepped in the backward, unit by unit there.
//
// Held against PyTorch's own allocator, fed with what PyTorch itself allocates on fake tensors (tests/oracles).
#pragma once

#include <cstdint>
#include <map>

#include "sim/model/model_graph.h"
#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/task_graph.h"
#include "sim/timeline/timeline.h"

namespace sim {

struct ReservedMemory {
  Bytes allocated{}, reserved{};  // most of each, of tensors
  Bytes cached() const { return reserved - allocated; }
};
// Nothing where no caching allocator is modelled: on a CPU, in other frameworks.
ReservedMemory reserved_memory(const ModelGraph& model, const ParallelPlan& plan, const TaskGraph& graph, DeviceId device);
ReservedMemory reserved_memory(const ParallelPlan& plan, StageIndex stage);

// Of several stages of a plan, which must outlive it: those that are replayed with equally many microbatches share what is lowered.
class AllocatorReplay {
 public:
  explicit AllocatorReplay(const ParallelPlan& plan) : plan_(plan) {}
  ReservedMemory reserved(StageIndex stage);
  // What the allocator holds beside tensors: as replayed with segments. With segments that grow, and in other frameworks, what memory_beside states: published
  // peaks of torchtitan are 2.7 % from it, and 5.2 % from a replay.
  Bytes held(StageIndex stage, const MemoryBreakdown& at_peak);

 private:
  struct Lowered {
    explicit Lowered(ParallelPlan few);
    ParallelPlan plan;
    ModelGraph model;
    TaskGraph graph;
  };
  const ParallelPlan& plan_;
  std::map<std::int64_t, Lowered> lowered_;  // by the samples of a step
};
Bytes held_by_allocator(const ParallelPlan& plan, StageIndex stage, const MemoryBreakdown& at_peak);

}  // namespace sim
