// Backwards that stages of torch.distributed.pipelining (SoftwareStack::held_messages) run as one though the plan's order has two halves, the weights' right
// behind the input's: of a schedule that is written for pairs (Schedule::pairs; docs/decisions/407), and of the first part of the model, whose input
// takes no gradient (stage.py, backward_one_chunk). Nothing of them waits for a Weight task.
#pragma once

#include <set>
#include <tuple>

#include "sim/cost/activation_memory.h"
#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/task.h"

namespace sim {

class WholeBackwards {
 public:
  explicit WholeBackwards(const ParallelPlan& plan);
  bool has(const TaskKey& key) const { return whole_.contains({key.stage, key.chunk, key.microbatch}); }

 private:
  std::set<std::tuple<StageIndex, ChunkIndex, MicrobatchIndex>> whole_;
};

// Those stages take an input's gradient with retain_graph (torch/distributed/pipelining/_backward.py): the graph in front of the last weight stays, with all
// that it saved, until the weights' gradients are made; a norm's waits for the gradient of its output. Of the head what its loss keeps goes: that stands behind.
SegmentMemory with_graph(SegmentMemory memory, const ParallelPlan& plan, const SegmentGraph& segment);

}  // namespace sim
