// The bytes that a task takes and frees, by category, as the worker's allocator would see them.
// Used by the engine's MemoryTracker, and (baseline, lower bound) by the planner to discard before simulating.
// Activations: activation_memory. Parameters, gradients and optimizer state: resident_memory. Here: which task moves them.
#pragma once

#include <memory>
#include <vector>

#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/task_graph.h"
#include "sim/timeline/timeline.h"

namespace sim {

struct MemoryChange {
  MemoryCategory category{};
  Bytes amount{};
};
struct MemoryEffect {
  std::vector<MemoryChange> at_start;    // taken; negative: freed
  std::vector<MemoryChange> temporary;   // alive while the task runs
  std::vector<MemoryChange> at_end;      // freed (negative) or taken
};

class MemoryModel {
 public:
  MemoryModel(const ModelGraph& model, const ParallelPlan& plan);   // both must outlive it
  ~MemoryModel();
  MemoryBreakdown resident(StageIndex stage) const;   // alive between steps
  // Equal tasks share an effect; the reference stays valid. One model a thread, and one graph a model.
  const MemoryEffect& effect(const Task& task, const TaskGraph& graph) const;
  Bytes lower_bound(StageIndex stage) const;          // never above the simulated peak

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sim
