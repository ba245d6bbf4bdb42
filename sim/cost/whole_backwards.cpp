#include "sim/cost/whole_backwards.h"

#include "sim/cluster/software_stack.h"
#include "sim/schedule/schedule.h"

namespace sim {

WholeBackwards::WholeBackwards(const ParallelPlan& plan) {
  if (!plan.splits_backward() || habits_of(plan.cluster).held_messages == 0) return;
  const Schedule* const schedule = find_schedule(plan.schedule);
  const bool is_for_pairs = schedule != nullptr && schedule->pairs;
  for (StageIndex stage{0}; stage.value() < plan.mesh.pipeline; ++stage) {
    const std::vector<StageAction> order = plan.order(stage);
    for (std::size_t at = 0; at + 1 < order.size(); ++at) {
      const StageAction &first = order[at], &second = order[at + 1];
      const bool may_be = is_for_pairs || (stage == StageIndex(0) && first.chunk == ChunkIndex(0));
      const bool is_whole = may_be && first.kind == ActionKind::Backward && second.kind == ActionKind::Weight &&
                            first.chunk == second.chunk && first.microbatch == second.microbatch;
      if (is_whole) whole_.insert({stage, first.chunk, first.microbatch});
    }
  }
  if (!whole_.contains({StageIndex(0), ChunkIndex(0), MicrobatchIndex(0)}))
    whole_.clear();  // a bound asks of that one for all: never above a step
}

SegmentMemory with_graph(SegmentMemory memory, const ParallelPlan& plan, const SegmentGraph& segment) {
  if (!segment.starts_with_side() || !plan.splits_backward() || habits_of(plan.cluster).held_messages == 0) return memory;
  memory.weight_inputs = (segment.leaves_tensor() ? memory.kept : memory.weight_inputs) + memory.statistics + memory.stream;
  memory.output_gradients += memory.stream;
  return memory;
}

}  // namespace sim
