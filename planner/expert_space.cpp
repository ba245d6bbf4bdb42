#include "planner/expert_space.h"

#include "planner/sayable.h"
#include "sim/schedule/schedule.h"
#include "sim/units/at.h"

namespace planner {
namespace {

constexpr sim::DeviceMesh kDealt{.data = 2, .expert = 2}, kApart{.data = 2, .tensor = 2, .expert = 2, .expert_tensor = 1};

// A backward with a forward right behind it, which the same stage performs.
bool alternates(const sim::Schedule& schedule) {
  for (std::int32_t chunks = 1; chunks <= 2; ++chunks) {
    const sim::PipelineShape shape{.stages = 2, .microbatches = 4, .chunks = chunks};
    if (schedule.why_unsupported(shape)) continue;
    const std::vector<sim::StageAction> order = schedule.order(shape, sim::StageIndex(0));
    for (std::size_t at = 1; at < order.size(); ++at)
      if (order[at - 1].kind == sim::ActionKind::Backward && order[at].kind == sim::ActionKind::Forward) return true;
  }
  return false;
}

// Each expert is sent rows of its own up to its capacity: nothing to gather.
bool fills_up(const sim::ExpertForm& experts) { return experts.is_limited() && experts.dispatch == sim::ExpertDispatch::Padded; }

}  // namespace

ExpertSpace::ExpertSpace(const SearchRequest& request, const FixedAxes& fixed) : request_(request), fixed_(fixed) {
  if (!request.model.experts) return;
  if (request.cluster.software.dispatch_share > 0) other_ = sim::TokenDispatcher::AllToAll;
  cuts_apart_ = !why_not_sayable(request, {.mesh = kApart, .sequence_parallel = true});
  gathers_ = !fills_up(*request.model.experts) && request.workload.precision.full_blocks().empty() &&
             !why_not_sayable(request, {.mesh = kDealt, .token_dispatcher = sim::TokenDispatcher::AllGather});
  dispatches_ = !why_not_sayable(request, {.mesh = kDealt, .token_dispatcher = other_});
  overlaps_ = !why_not_sayable(request, {.mesh = kDealt, .expert_overlap = true});
}

std::vector<std::int32_t> ExpertSpace::expert_tensors(const sim::DeviceMesh& mesh) const {
  if (fixed_.has("expert_tensor")) return {fixed_.at.mesh.expert_tensor == mesh.tensor ? 0 : fixed_.at.mesh.expert_tensor};
  const bool splits_tokens = request_.workload.sequence / mesh.context % mesh.tensor == 0;  // as sequence parallelism does
  return cuts_apart_ && mesh.tensor > 1 && splits_tokens ? std::vector{0, 1} : std::vector{0};
}

std::vector<sim::TokenDispatcher> ExpertSpace::dispatchers(const PlanCandidate& at) const {
  if (fixed_.has("token_dispatcher")) return {fixed_.at.token_dispatcher};
  const std::int32_t group = at.mesh.expert * at.mesh.expert_cut();
  const bool leaves_node = at.mesh.expert > 1 && group > request_.cluster.devices_per_node();
  std::vector<sim::TokenDispatcher> ways{sim::TokenDispatcher::AsTheProgram};
  if (dispatches_ && leaves_node) ways.push_back(other_);
  if (gathers_ && at.mesh.expert > 1 && at.mesh.expert <= request_.model.experts->topk) ways.push_back(sim::TokenDispatcher::AllGather);
  return ways;
}

bool ExpertSpace::has_pairs(const PlanCandidate& at) const {
  const sim::Schedule& schedule = sim::at(sim::all_schedules(), at.schedule);
  return request_.workload.global_batch / at.mesh.data > at.microbatch && !schedule.splits_backward && alternates(schedule);
}

std::vector<bool> ExpertSpace::overlaps(const PlanCandidate& shape) const {
  const bool possible = shape.mesh.expert > 1 && has_pairs(shape);
  if (fixed_.has("expert_overlap"))
    return fixed_.at.expert_overlap && !possible ? std::vector<bool>{} : std::vector{fixed_.at.expert_overlap};
  return overlaps_ && possible ? std::vector{false, true} : std::vector{false};
}

bool ExpertSpace::may_overlap(const PlanCandidate& words) {
  return words.token_dispatcher != sim::TokenDispatcher::AllGather && words.zero_stage < 3;
}

}  // namespace planner
