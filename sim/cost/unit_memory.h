// What fully_shard (FSDP 2) has alive of weights and gradients, unit by unit, in the order in which its host issues a step. Not the activations.
// Followed in torch 2.11: torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py and _fsdp_collectives.py.
//
//   forward    cast of the shard | buffer of the gather | the buffer before goes | copy out of it | ... unit runs ... | copy goes (reshard)
//              the last buffer goes when the root's forward ends, before the loss
//   backward   copy out, buffer goes | cast, buffer of the next unit | ... unit runs, gradients in its weights' format come ... |
//              copy goes | input of the reduce-scatter before goes, this one's comes, gradients go, their shard comes
//   neighbours keep a part after the forward: cut out before the copy goes, and there until the copy out of the backward's buffer
//   copies of shards: a reduced shard that was added to one of microbatches before stays until the backward ends (its sum may still run)
//   halves     the weights' half makes gradients in their format; the unit's next visit adds them up
//   not reduced (all but the last microbatch): gradients become sums in the format of the reduction
//   step       shards of gradients go when it is done
//
// The root's unit, where a program leaves embedding and head to it (SoftwareStack::root_unit), stays from its first gather to the end of the backward.
//
// Each parameter is padded to a multiple of the ranks in its rows (q, k, v, gate and up are parameters of their own there).
#pragma once

#include <map>
#include <set>
#include <vector>

#include "sim/cost/operator_memory.h"
#include "sim/task_graph/task_graph.h"

namespace sim {

bool follows_units(const ParallelPlan& plan);  // its program is one that does this, and the plan shards parameters

// Around what a compute task does by itself. `between`: inside a task of the head, where its module ends and the loss begins (backward: the other way).
struct UnitMoves {
  MemorySteps before, between, after;
};

class UnitMemory {
 public:
  // ByOperator: the tasks of such layers take the gradients of their weights themselves.
  UnitMemory(const ModelGraph& model, const ParallelPlan& plan, const TaskGraph& graph, const ByLayerKind<GradientsCome>& come);
  const UnitMoves* of(const TaskKey& key) const;  // null: nothing of units

 private:
  std::map<TaskKey, UnitMoves> moves_;
};

}  // namespace sim
