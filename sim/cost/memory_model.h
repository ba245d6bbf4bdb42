// The bytes that a task takes and frees, by category, as the worker's allocator would see them.
// Which task moves what: memory_effects. What lies there between steps: resident_memory. How much: activation_memory.
#pragma once

#include <memory>

#include "sim/cost/memory_effects.h"
#include "sim/cost/memory_steps.h"
#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/task_graph.h"
#include "sim/timeline/timeline.h"

namespace sim {

class MemoryModel {
 public:
  MemoryModel(const ModelGraph& model, const ParallelPlan& plan) : MemoryModel(model, plan, WholeBackwards(plan)) {}
  MemoryModel(const ModelGraph& model, const ParallelPlan& plan, WholeBackwards whole);  // model and plan must outlive it
  ~MemoryModel();
  MemoryBreakdown resident(StageIndex stage) const;  // alive between steps
  Bytes on_host(StageIndex stage) const;             // of one rank, all the time
  // Equal tasks share an effect; the reference stays valid. One model a thread, and one graph a model.
  const MemoryEffect& effect(const Task& task, const TaskGraph& graph) const;
  // The same tensor by tensor, as far as that is known, in the order in which they come and go.
  MemorySteps steps(const Task& task, const TaskGraph& graph) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sim
