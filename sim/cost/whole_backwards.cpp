#include "sim/cost/whole_backwards.h"

#include "sim/cluster/software_stack.h"
#include "sim/schedule/schedule.h"

namespace sim {

namespace {

std::vector<std::vector<StageAction>> orders_of(const ParallelPlan& plan) {
  std::vector<std::vector<StageAction>> orders;
  for (StageIndex stage{0}; may_be_whole(plan) && stage.value() < plan.mesh.pipeline; ++stage) orders.push_back(plan.order(stage));
  return orders;
}

}  // namespace

bool may_be_whole(const ParallelPlan& plan) { return plan.splits_backward() && habits_of(plan.cluster).held_messages > 0; }

WholeBackwards::WholeBackwards(const ParallelPlan& plan) : WholeBackwards(plan, orders_of(plan)) {}

WholeBackwards::WholeBackwards(const ParallelPlan& plan, std::span<const std::vector<StageAction>> orders) {
  if (!may_be_whole(plan)) return;
  const Schedule* const schedule = find_schedule(plan.schedule);
  const bool is_for_pairs = schedule != nullptr && schedule->pairs;
  StageIndex stage{0};
  for (const std::vector<StageAction>& order : orders) {
    for (std::size_t at = 0; at + 1 < order.size(); ++at) {
      const StageAction &first = order[at], &second = order[at + 1];
      const bool may_be = is_for_pairs || (stage == StageIndex(0) && first.chunk == ChunkIndex(0));
      const bool is_whole = may_be && first.kind == ActionKind::Backward && second.kind == ActionKind::Weight &&
                            first.chunk == second.chunk && first.microbatch == second.microbatch;
      if (is_whole) whole_.insert({stage, first.chunk, first.microbatch});
    }
    ++stage;
  }
  if (!has(Place{StageIndex(0), ChunkIndex(0), MicrobatchIndex(0)}))
    whole_.clear();  // where the first one has halves apart, the few that have not hold at least as much so
}

SegmentMemory with_graph(SegmentMemory memory, const ParallelPlan& plan, const SegmentGraph& segment) {
  if (!segment.starts_with_side() || !plan.splits_backward() || habits_of(plan.cluster).held_messages == 0) return memory;
  memory.weight_inputs = (segment.leaves_tensor() ? memory.kept : memory.weight_inputs) + memory.statistics + memory.stream;
  memory.output_gradients += memory.stream;
  return memory;
}

}  // namespace sim
