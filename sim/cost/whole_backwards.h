// Backwards that stages of torch.distributed.pipelining (SoftwareStack::held_messages) run as one though the plan's order has two halves, the weights' right
// behind the input's: of a schedule that is written for pairs (Schedule::pairs; docs/decisions/407), and of the first part of the model, whose input
// takes no gradient (stage.py, backward_one_chunk). Nothing of them waits for a Weight task.
#pragma once

#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "sim/cost/activation_memory.h"
#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/task.h"

namespace sim {

bool may_be_whole(const ParallelPlan& plan);  // some of its backwards

class WholeBackwards {
 public:
  using Place = std::tuple<StageIndex, ChunkIndex, MicrobatchIndex>;
  explicit WholeBackwards(const ParallelPlan& plan);
  WholeBackwards(const ParallelPlan& plan, std::span<const std::vector<StageAction>> orders);  // of its stages, from the first one on
  explicit WholeBackwards(std::set<Place> whole) : whole_(std::move(whole)) {}                 // these, whatever the order
  bool has(const TaskKey& key) const { return has(Place{key.stage, key.chunk, key.microbatch}); }
  bool has(const Place& place) const { return whole_.contains(place); }
  bool empty() const { return whole_.empty(); }

 private:
  std::set<Place> whole_;
};

// Those stages take an input's gradient with retain_graph (torch/distributed/pipelining/_backward.py): the graph in front of the last weight stays, with all
// that it saved, until the weights' gradients are made; a norm's waits for the gradient of its output. Of the head what its loss keeps goes: that stands behind.
SegmentMemory with_graph(SegmentMemory memory, const ParallelPlan& plan, const SegmentGraph& segment);

}  // namespace sim
