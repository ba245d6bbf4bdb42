#include "sim/estimate/pipeline_replay.h"

#include <algorithm>
#include <limits>

namespace sim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

class Clockwork {
 public:
  Clockwork(const PipelineRun& run, std::int32_t steps)
      : run_(run),
        virtual_stages_(run.chunks.size()),
        microbatches_(static_cast<std::size_t>(run.shape.microbatches) * static_cast<std::size_t>(steps)) {
    forward_done_.assign(virtual_stages_ * microbatches_, kNever);
    backward_done_.assign(virtual_stages_ * microbatches_, kNever);
  }
  // When the action could begin, by what it needs from others; kNever: not known yet.
  double ready(ActionKind kind, std::size_t stage, std::size_t microbatch) const {
    if (kind == ActionKind::Forward) return stage == 0 ? 0 : forward_done_[at(stage - 1, microbatch)] + run_.transfer.count();
    const double own = forward_done_[at(stage, microbatch)];
    return stage + 1 == virtual_stages_ ? own : std::max(own, backward_done_[at(stage + 1, microbatch)] + run_.transfer.count());
  }
  void finish(ActionKind kind, std::size_t stage, std::size_t microbatch, double when) {
    (kind == ActionKind::Forward ? forward_done_ : backward_done_)[at(stage, microbatch)] = when;
  }
  double blocked() const { return run_.transfer_blocks ? run_.transfer.count() : 0; }

 private:
  std::size_t at(std::size_t stage, std::size_t microbatch) const { return stage * microbatches_ + microbatch; }
  const PipelineRun& run_;
  std::size_t virtual_stages_, microbatches_;
  std::vector<double> forward_done_, backward_done_;
};

// Stages in the order of a schedule, each doing what it can; `steps` of them one after the other, with nothing between that all wait for.
class Orders {
 public:
  Orders(const PipelineRun& run, const Schedule& schedule, std::int32_t steps)
      : run_(run), schedule_(schedule), work_(run, steps), next_(stages(), 0), clock_(stages(), 0) {
    for (std::size_t stage = 0; stage < stages(); ++stage) {
      const std::vector<StageAction> order = schedule.order(run.shape, StageIndex(static_cast<std::int32_t>(stage)));
      std::vector<StageAction>& all = orders_.emplace_back();
      for (std::int32_t step = 0; step < steps; ++step)
        for (const StageAction& action : order)
          all.push_back({action.kind, MicrobatchIndex(action.microbatch.value() + step * run.shape.microbatches), action.chunk});
    }
  }

  double play() && {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t stage = 0; stage < stages(); ++stage)
        while (perform_next(stage)) moved = true;
    }
    return *std::max_element(clock_.begin(), clock_.end());
  }

 private:
  std::size_t stages() const { return static_cast<std::size_t>(run_.shape.stages); }
  double cost(const StageAction& action, const StageTimes& times) const;
  bool perform_next(std::size_t stage);

  const PipelineRun& run_;
  const Schedule& schedule_;
  Clockwork work_;
  std::vector<std::vector<StageAction>> orders_;
  std::vector<std::size_t> next_;
  std::vector<double> clock_;
};

double Orders::cost(const StageAction& action, const StageTimes& times) const {
  switch (action.kind) {
    case ActionKind::Forward: return times.forward.count();
    case ActionKind::Backward: return times.backward.count() + (schedule_.splits_backward ? 0 : times.weight.count());
    case ActionKind::Weight: return times.weight.count();
  }
  return 0;
}

bool Orders::perform_next(std::size_t stage) {
  if (next_[stage] == orders_[stage].size()) return false;
  const StageAction& action = orders_[stage][next_[stage]];
  const ChunkSite site{StageIndex(static_cast<std::int32_t>(stage)), action.chunk};
  const auto place = static_cast<std::size_t>(virtual_stage(schedule_.placement, run_.shape, site));
  const bool is_weight = action.kind == ActionKind::Weight;  // needs only what its stage has done before
  const double ready = is_weight ? 0 : work_.ready(action.kind, place, action.microbatch.position());
  if (ready == kNever) return false;
  const double done = std::max(clock_[stage], ready) + cost(action, run_.chunks[place]);
  if (!is_weight) work_.finish(action.kind, place, action.microbatch.position(), done);
  clock_[stage] = done + (is_weight ? 0 : work_.blocked());
  ++next_[stage];
  return true;
}

double replay_order(const PipelineRun& run, const Schedule& schedule) { return Orders(run, schedule, 1).play(); }

// What a step adds where the next one begins on a stage as soon as that stage is done: no norm, no optimizer that waits for all.
double replay_unsynchronized(const PipelineRun& run, const Schedule& schedule) {
  constexpr std::int32_t kBefore = 2;
  return Orders(run, schedule, kBefore + 1).play() - Orders(run, schedule, kBefore).play();
}

}  // namespace

const Schedule& played_schedule(const std::string& name, PipelineShape shape) {
  const Schedule* schedule = find_schedule(name == "zb-2p-sync" ? "zb-2p" : name);
  const bool fits = schedule != nullptr && !schedule->why_unsupported(shape);
  if (shape.chunks > 1 && !(fits && schedule->splits_backward)) return *find_schedule("interleaved");
  return fits ? *schedule : *find_schedule("1f1b");
}

Seconds replay(const PipelineRun& run) {
  const Schedule& schedule = played_schedule(run.schedule, run.shape);
  const bool synchronizes = run.schedule != "zb-2p" || !schedule.splits_backward;
  return Seconds(synchronizes ? replay_order(run, schedule) : replay_unsynchronized(run, schedule));
}

}  // namespace sim
