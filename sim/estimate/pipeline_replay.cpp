#include "sim/estimate/pipeline_replay.h"

#include <algorithm>
#include <limits>

namespace sim {
namespace {

constexpr double kWorthWaiting = 0.5;   // of a weight gradient's time: what arrives sooner goes first
constexpr double kNever = std::numeric_limits<double>::infinity();

class Clockwork {
 public:
  explicit Clockwork(const PipelineRun& run)
      : run_(run), virtual_stages_(run.chunks.size()), microbatches_(static_cast<std::size_t>(run.shape.microbatches)) {
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

// One stage of an order that is fixed beforehand: does what it can; true if that was anything.
bool advance(const PipelineRun& run, Clockwork& work, const std::vector<StageAction>& order, std::size_t stage, std::size_t& next,
             double& clock) {
  const std::size_t begun = next;
  for (; next < order.size(); ++next) {
    const StageAction& action = order[next];
    const std::size_t place = action.chunk.position() * static_cast<std::size_t>(run.shape.stages) + stage;
    const double ready = work.ready(action.kind, place, action.microbatch.position());
    if (ready == kNever) break;
    const StageTimes& times = run.chunks[place];
    const double cost = action.kind == ActionKind::Forward ? times.forward.count() : times.backward.count() + times.weight.count();
    const double done = std::max(clock, ready) + cost;
    work.finish(action.kind, place, action.microbatch.position(), done);
    clock = done + work.blocked();
  }
  return next > begun;
}

double replay_order(const PipelineRun& run, const Schedule& schedule) {
  const auto stages = static_cast<std::size_t>(run.shape.stages);
  std::vector<std::vector<StageAction>> orders;
  for (std::size_t stage = 0; stage < stages; ++stage)
    orders.push_back(schedule.order(run.shape, StageIndex(static_cast<std::int32_t>(stage))));
  Clockwork work(run);
  std::vector<std::size_t> next(stages, 0);
  std::vector<double> clock(stages, 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t stage = 0; stage < stages; ++stage) moved |= advance(run, work, orders[stage], stage, next[stage], clock[stage]);
  }
  return *std::max_element(clock.begin(), clock.end());
}

// Zero-bubble order, found on the way: backward first, then forward while memory allows, then gradients of weights that wait.
class Greedy {
 public:
  struct Room { std::size_t memory = 1, ahead = 1; };   // microbatches held; how far forward runs ahead, in units of the stages behind
  Greedy(const PipelineRun& run, Room room) : run_(run), work_(run), room_(room), stages_(run.chunks.size()) {}
  double play();

 private:
  struct Stage { std::size_t forward = 0, backward = 0, weight = 0; double clock = 0; };
  bool done(const Stage& stage) const { return stage.weight == static_cast<std::size_t>(run_.shape.microbatches); }
  void step(std::size_t at);
  void perform(std::size_t at, ActionKind kind, std::size_t& count, double cost);

  const PipelineRun& run_;
  Clockwork work_;
  Room room_;
  std::vector<Stage> stages_;
};

void Greedy::perform(std::size_t at, ActionKind kind, std::size_t& count, double cost) {
  Stage& stage = stages_[at];
  const double done = std::max(stage.clock, work_.ready(kind, at, count)) + cost;
  work_.finish(kind, at, count++, done);
  stage.clock = done + work_.blocked();
}

void Greedy::step(std::size_t at) {
  Stage& stage = stages_[at];
  const StageTimes& times = run_.chunks[at];
  const auto all = static_cast<std::size_t>(run_.shape.microbatches);
  const double backward = stage.backward < all ? work_.ready(ActionKind::Backward, at, stage.backward) : kNever;
  const std::size_t ahead = room_.ahead * (stages_.size() - at) - (room_.ahead - 1);
  const bool has_room = stage.forward < all && stage.forward - stage.weight < room_.memory && stage.forward - stage.backward < ahead;
  const double forward = has_room ? work_.ready(ActionKind::Forward, at, stage.forward) : kNever;
  if (backward <= stage.clock) return perform(at, ActionKind::Backward, stage.backward, times.backward.count());
  if (forward <= stage.clock) return perform(at, ActionKind::Forward, stage.forward, times.forward.count());
  const double soon = std::min(backward, forward);
  if (soon < stage.clock + kWorthWaiting * times.weight.count()) {
    stage.clock = soon;
    return;
  }
  if (stage.weight < stage.backward) {
    stage.clock += times.weight.count();
    ++stage.weight;
    return;
  }
  double next = soon;
  for (const Stage& other : stages_)
    if (!done(other) && other.clock > stage.clock) next = std::min(next, other.clock);
  stage.clock = next == kNever ? stage.clock + 1e-6 : next;
}

double Greedy::play() {
  for (;;) {
    std::size_t first = stages_.size();
    for (std::size_t at = 0; at < stages_.size(); ++at)
      if (!done(stages_[at]) && (first == stages_.size() || stages_[at].clock < stages_[first].clock)) first = at;
    if (first == stages_.size()) break;
    step(first);
  }
  double end = 0;
  for (const Stage& stage : stages_) end = std::max(end, stage.clock);
  return end;
}

bool splits_backward(const std::string& schedule) { return schedule.starts_with("zb") || schedule.starts_with("v-"); }

// The interleaved order wants equal rounds of microbatches: what is missing is added, and its steady time taken off again.
double replay_rounded(PipelineRun run, const Schedule& schedule) {
  const std::int32_t p = run.shape.stages, asked = run.shape.microbatches;
  if (schedule.why_unsupported(run.shape)) run.shape.microbatches = (asked + p - 1) / p * p;
  double slowest = 0;
  for (std::int32_t stage = 0; stage < p; ++stage) {
    double sum = 0;
    for (std::size_t at = static_cast<std::size_t>(stage); at < run.chunks.size(); at += static_cast<std::size_t>(p))
      sum += run.chunks[at].forward.count() + run.chunks[at].backward.count() + run.chunks[at].weight.count();
    slowest = std::max(slowest, sum);
  }
  return replay_order(run, schedule) - (run.shape.microbatches - asked) * slowest;
}

}  // namespace

Seconds replay(const PipelineRun& run) {
  const auto p = static_cast<std::size_t>(run.shape.stages);
  if (splits_backward(run.schedule) && run.shape.chunks == 1)
    return Seconds(Greedy(run, run.schedule.starts_with("zb-2p") ? Greedy::Room{2 * p, 2} : Greedy::Room{p, 1}).play());
  const Schedule* schedule = find_schedule(run.schedule);
  if (schedule == nullptr || run.shape.chunks > 1) schedule = find_schedule(run.shape.chunks > 1 ? "interleaved" : "1f1b");
  if (run.shape.chunks > 1) return Seconds(replay_rounded(run, *schedule));
  return Seconds(replay_order(run, *schedule));
}

}  // namespace sim
